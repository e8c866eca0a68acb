"""The Rasch scale: estimators on arrays, what fits it, and banks of calibrated items."""
