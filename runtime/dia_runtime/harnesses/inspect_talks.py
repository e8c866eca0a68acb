"""Old path of `dia_runtime.integrations.inspect.sessions`, kept for code that imports it."""

import sys

from dia_runtime.integrations.inspect import sessions
from dia_runtime.integrations.inspect.sessions import *  # noqa: F403 - for type checkers

sys.modules[__name__] = sessions
