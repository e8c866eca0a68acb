"""Uncertainty by resampling, comparisons, and what else needs arrays of numbers.

Nothing here is imported before figures are computed, since numpy takes a tenth of a second.
"""
