"""Old path of `dia_runtime.integrations.exporting.base`, kept for code that imports it."""

import sys

from dia_runtime.integrations.exporting import base
from dia_runtime.integrations.exporting.base import *  # noqa: F403 - for type checkers

sys.modules[__name__] = base
