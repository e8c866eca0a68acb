"""Old path of `dia_runtime.integrations.inspect.tasks`, kept for code that imports it."""

import sys

from dia_runtime.integrations.inspect import tasks
from dia_runtime.integrations.inspect.tasks import *  # noqa: F403 - for type checkers

sys.modules[__name__] = tasks
