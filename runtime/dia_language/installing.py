"""How to install what is missing. dia is not on PyPI, so its extras are installed from a clone."""

from __future__ import annotations


def install_extra(name: str) -> str:
    """Return the help for a missing extra of the project.

    >>> install_extra("parquet")
    "run `pip install '.[parquet]'` in a clone of dia"
    """
    return f"run `pip install '.[{name}]'` in a clone of dia"
