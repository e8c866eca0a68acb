"""The study of intervals and the benchmark of their speed run, and know the truth that they speak of."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy
import pytest
from dia_runtime.scoring.figures import compared_figures
from helpers.places import ROOT


def script(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_truth_of_the_study_is_that_of_very_many_items() -> None:
    study = script("docs/studies/interval_coverage.py")
    design = study.Design(200_000, 4, 1.5)
    generator = numpy.random.default_rng(1)
    chances = generator.beta(4, 1.5, design.items)
    right = generator.binomial(5, chances)
    silent = generator.binomial(5 - right, study.SKIPS)
    wrong, truths = 5 - right - silent, design.truths()
    assert truths["trad_score"] == pytest.approx(right.mean() / 5, abs=0.003)
    assert truths["idk_score"] == pytest.approx((right - wrong).mean() / 5, abs=0.005)
    assert truths["rs"] / design.items == pytest.approx((right - 2 * wrong).mean() / 5, abs=0.006)
    assert truths["accuracy_answered"] == pytest.approx(right.sum() / (right + wrong).sum(), abs=0.003)
    assert truths["conf"] == pytest.approx((right == 5).mean(), abs=0.006)
    assert truths["difference"] == pytest.approx((chances - chances**study.HARDER).mean(), abs=0.001)


@pytest.mark.long
def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    study = script("docs/studies/interval_coverage.py")
    found = study.coverage(study.Design(60, 2, 2), 150, 1_000, 5)
    for name in ("trad_score", "idk_score", "rs", "accuracy_answered", "difference"):
        assert found[name]["bca"] > 0.89 and found[name]["percentile"] > 0.88, name  # three errors below 95 %
    assert found["trad_score"]["independent"] < 0.93


@pytest.mark.long
def test_a_bound_holds_where_resamples_of_few_items_do_not() -> None:
    study = script("docs/studies/few_items.py")
    rows = [line.split() for line in study.coverage(10, 20, (9, 1), 100, 1_000, 1)]
    assert [row[4] for row in rows] == ["Pass@3", "correct", "RS", "Conf", "NMS"]
    resamples, reported = ({row[4]: float(row[place]) for row in rows} for place in (6, 8))
    assert resamples["Pass@3"] < 80 and reported["Pass@3"] > 93 and reported["correct"] > 90


def test_the_study_and_the_benchmark_print_their_figures(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script("docs/studies/interval_coverage.py").main(["--sets", "4", "--items", "12", "--shapes", "0"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("12 items, k = 5") and [line.split()[0] for line in lines[2:]] == [
        "trad_score", "idk_score", "rs", "accuracy_answered", "conf", "difference"]  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["interval_speed.py", "--items", "30", "--resamples", "500", "--runs", "1"])
    script("benchmarks/interval_speed.py").main()
    assert f"BCa of {len(compared_figures())} figures" in capsys.readouterr().out
