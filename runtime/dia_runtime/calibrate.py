"""Old path of `dia_runtime.psychometrics.calibrate`, kept for code that imports it."""

import sys

from dia_runtime.psychometrics.calibrate import *  # noqa: F403 - for type checkers

sys.modules[__name__] = sys.modules["dia_runtime.psychometrics.calibrate"]
