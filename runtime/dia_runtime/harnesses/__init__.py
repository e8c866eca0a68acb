"""What exported tasks import where another harness runs them: rows, grading and figures that are ours."""
