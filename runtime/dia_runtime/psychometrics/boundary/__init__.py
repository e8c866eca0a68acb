"""Placing a model on a calibrated bank, and searching for items that it solves half of the time."""
