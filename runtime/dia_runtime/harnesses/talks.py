"""Old path of `dia_runtime.integrations.exported_tasks.transcripts`, kept for code that imports it."""

import sys

from dia_runtime.integrations.exported_tasks import transcripts
from dia_runtime.integrations.exported_tasks.transcripts import *  # noqa: F403 - for type checkers

sys.modules[__name__] = transcripts
