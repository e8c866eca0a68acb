"""The Rasch scale: estimators on arrays, fit statistics, and banks of calibrated items."""
