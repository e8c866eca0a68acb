"""Old path of `dia_runtime.integrations.exported_tasks.figures`, kept for code that imports it."""

import sys

from dia_runtime.integrations.exported_tasks import figures
from dia_runtime.integrations.exported_tasks.figures import *  # noqa: F403 - for type checkers

sys.modules[__name__] = figures
