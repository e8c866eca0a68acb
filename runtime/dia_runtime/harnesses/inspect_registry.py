"""Old path of `dia_runtime.integrations.inspect.registry`, kept for code that imports it."""

import sys

from dia_runtime.integrations.inspect import registry
from dia_runtime.integrations.inspect.registry import *  # noqa: F403 - for type checkers

sys.modules[__name__] = registry
