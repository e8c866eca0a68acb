"""Old path of `dia_compiler.pipeline.api`, kept for code that imports it."""

import sys

from dia_compiler.pipeline import api
from dia_compiler.pipeline.api import *  # noqa: F403 - for type checkers

sys.modules[__name__] = api
