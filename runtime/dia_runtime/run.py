"""Old path of `dia_runtime.running.run`, kept for code that imports it."""

import sys

from dia_runtime.running.run import *  # noqa: F403 - for type checkers

sys.modules[__name__] = sys.modules["dia_runtime.running.run"]
