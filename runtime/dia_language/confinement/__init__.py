"""Programs that a spec runs: in a sandbox, with limits, and only if the user allows it."""
