"""Old path of `dia_language.diagnostics`, kept for code that imports it."""

import sys

from dia_language import diagnostics
from dia_language.diagnostics import *  # noqa: F403 - for type checkers

sys.modules[__name__] = diagnostics
