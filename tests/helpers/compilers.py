"""Which C compiler tests find."""

from __future__ import annotations

import shutil

import pytest

# The compiler of the extra `binary` takes seconds for each program, and far longer for the first one, for which it
# compiles the C library: every day it compiles nothing that needs one.
SLOW_COMPILER = all(shutil.which(name) is None for name in ("gcc", "cc", "clang"))
compiles = pytest.mark.long if SLOW_COMPILER else pytest.mark.spawned
