"""Old path of `dia_runtime.integrations.promptfoo.grader`: exported evaluations run it with `python -m`."""

import sys

from dia_runtime.integrations.promptfoo import grader
from dia_runtime.integrations.promptfoo.grader import *  # noqa: F403 - for type checkers

if __name__ == "__main__":
    sys.exit(grader.main())
sys.modules[__name__] = grader
