"""Uncertainty by resampling, comparisons, and other computations on arrays.

Nothing here is imported before figures are computed, because importing numpy takes a tenth of a second.
"""
