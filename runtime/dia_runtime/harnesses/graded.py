"""Old path of `dia_runtime.integrations.shared.graded`, kept for code that imports it."""

import sys

from dia_runtime.integrations.shared.graded import *  # noqa: F403 - for type checkers

sys.modules[__name__] = sys.modules["dia_runtime.integrations.shared.graded"]
