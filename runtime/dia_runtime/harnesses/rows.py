"""Old path of `dia_runtime.integrations.exported_tasks.rows`, kept for code that imports it."""

import sys

from dia_runtime.integrations.exported_tasks.rows import *  # noqa: F403 - for type checkers

sys.modules[__name__] = sys.modules["dia_runtime.integrations.exported_tasks.rows"]
