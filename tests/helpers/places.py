"""Where tests find what is not theirs."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
SHARED = ROOT.parent / "shared"  # recorded data that is too large for the repository; tests of it skip where it is not
