"""Place a model on a calibrated bank, and search for items that it solves half of the time."""
