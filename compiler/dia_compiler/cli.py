"""Old path of `dia_compiler.commands.cli`, kept for code that imports it."""

import sys

from dia_compiler.commands import cli
from dia_compiler.commands.cli import *  # noqa: F403 - for type checkers

sys.modules[__name__] = cli
