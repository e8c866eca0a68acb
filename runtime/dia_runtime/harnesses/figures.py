"""Old path of `dia_runtime.integrations.shared.figures`, kept for code that imports it."""

import sys

from dia_runtime.integrations.shared import figures
from dia_runtime.integrations.shared.figures import *  # noqa: F403 - for type checkers

sys.modules[__name__] = figures
