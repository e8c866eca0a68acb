"""Old path of `dia_compiler.commands.entry`, kept for code that imports it."""

import sys

from dia_compiler.commands import entry
from dia_compiler.commands.entry import *  # noqa: F403 - for type checkers

sys.modules[__name__] = entry
