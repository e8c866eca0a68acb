"""Old path of `dia_runtime.integrations.shared.transcripts`, kept for code that imports it."""

import sys

from dia_runtime.integrations.shared import transcripts
from dia_runtime.integrations.shared.transcripts import *  # noqa: F403 - for type checkers

sys.modules[__name__] = transcripts
