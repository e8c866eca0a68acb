"""Boundary search: new items at which a model succeeds about half of the time."""
