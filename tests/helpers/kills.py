"""How often tests kill a process at a random place: a few times, or as often as DIA_KILLS says."""

from __future__ import annotations

import os

KILLS = int(os.environ.get("DIA_KILLS", "3"))
