"""Old path of `dia_runtime.integrations.inspect.content`, kept for code that imports it."""

import sys

from dia_runtime.integrations.inspect import content
from dia_runtime.integrations.inspect.content import *  # noqa: F403 - for type checkers

sys.modules[__name__] = content
