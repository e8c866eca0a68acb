"""The path from which exported tasks import `dia_runtime.integrations.lm_eval.task`."""

import sys

from dia_runtime.integrations.lm_eval import task
from dia_runtime.integrations.lm_eval.task import *  # noqa: F403 - for type checkers

sys.modules[__name__] = task
