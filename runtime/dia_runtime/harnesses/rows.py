"""Old path of `dia_runtime.integrations.shared.exported_rows`, kept for code that imports it."""

import sys

from dia_runtime.integrations.shared import exported_rows
from dia_runtime.integrations.shared.exported_rows import *  # noqa: F403 - for type checkers

sys.modules[__name__] = exported_rows
