"""Old path of `dia_runtime.scoring.score`, kept for code that imports it."""

import sys

from dia_runtime.scoring.score import *  # noqa: F403 - for type checkers

sys.modules[__name__] = sys.modules["dia_runtime.scoring.score"]
