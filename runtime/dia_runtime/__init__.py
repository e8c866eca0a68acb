"""Frozen bundles to replies, verdicts, metrics and scales."""
