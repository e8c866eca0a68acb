"""The path from which exported tasks import `dia_runtime.integrations.inspect.task`."""

import sys

from dia_runtime.integrations.inspect import task as module
from dia_runtime.integrations.inspect.task import *  # noqa: F403 - for type checkers

sys.modules[__name__] = module  # `task` may be a function of the harness after `import *`
