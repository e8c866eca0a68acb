"""The meaning of expressions, templates, functions, answers and diagnostics."""
