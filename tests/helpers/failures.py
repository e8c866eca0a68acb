"""What is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from dia_language.diagnostics import DiaError


def failure(action: Callable[[], Any]) -> DiaError:
    """The error that an action raises."""
    with pytest.raises(DiaError) as caught:
        action()
    return caught.value
