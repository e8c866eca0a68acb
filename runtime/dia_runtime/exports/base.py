"""Old path of `dia_runtime.integrations.shared.export_base`, kept for code that imports it."""

import sys

from dia_runtime.integrations.shared import export_base
from dia_runtime.integrations.shared.export_base import *  # noqa: F403 - for type checkers

sys.modules[__name__] = export_base
