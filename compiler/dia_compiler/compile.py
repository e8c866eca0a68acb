"""Old path of `dia_compiler.api`, kept for code that imports it."""

import sys

from dia_compiler import api
from dia_compiler.api import *  # noqa: F403 - for type checkers

sys.modules[__name__] = api
