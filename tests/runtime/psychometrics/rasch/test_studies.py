"""The study and the benchmark of calibration run, as small as may be."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from helpers.places import ROOT


def printed(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.long
def test_the_study_prints_slopes_that_are_near_1() -> None:
    out = printed("docs/studies/rasch_simulations.py", "--part", "slopes", "--replicates", "20")
    slopes = {
        name.strip(): float(value) for name, value in re.findall(r"^  (.{16}) slope ([0-9.]+)", out, re.MULTILINE)
    }
    assert abs(slopes["mml-items, eap"] - 1) < 0.04 and abs(slopes["cml, eap"] - 1) < 0.04
    assert 1.08 < slopes["jml"] < 1.22 and slopes["jml"] > slopes["jml, (n-1)/n"] + 0.08


@pytest.mark.long
def test_the_benchmark_prints_each_estimator_and_why_a_peer_is_missing() -> None:
    out = printed("benchmarks/rasch_speed.py", "--size", "6x40", "--peers", sys.executable, "--epochs", "1")
    assert all(re.search(rf"^  {name}.* s, CPU", out, re.MULTILINE) for name in ("jml", "mml-items", "cml"))
    assert "girth rasch_jml        skipped: ModuleNotFoundError" in out
