"""Old path of `dia_runtime.grading.grader`, kept for code that imports it."""

import sys

from dia_runtime.grading.grader import *  # noqa: F403 - for type checkers

sys.modules[__name__] = sys.modules["dia_runtime.grading.grader"]
