"""What expressions, templates, functions, answers and diagnostics mean."""
