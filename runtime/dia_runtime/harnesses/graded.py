"""Old path of `dia_runtime.integrations.exported_tasks.grading`, kept for code that imports it."""

import sys

from dia_runtime.integrations.exported_tasks.grading import *  # noqa: F403 - for type checkers

sys.modules[__name__] = sys.modules["dia_runtime.integrations.exported_tasks.grading"]
