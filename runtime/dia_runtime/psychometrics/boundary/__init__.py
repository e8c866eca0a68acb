"""Where a model stands on a calibrated bank, and where it succeeds half of the time."""
