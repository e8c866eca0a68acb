"""Answers by the Rasch model: the share of right ones is the model's, and the same replies come everywhere."""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import dia_runtime
import mpmath
import pytest
from dia_runtime.respondents.simulated import SCALE, success_threshold
from dia_runtime.store.store import read_store
from helpers.failures import refusal

Make = Callable[..., Path]


def counts(bundle: Path, arguments: str, out: Path, **more: Any) -> dict[str, int]:
    dia_runtime.run(bundle, f"simulated:{arguments}", out, **more)
    found: dict[str, int] = dia_runtime.score(out)["models"][0]["counts"]
    return found


def texts(path: Path) -> list[str | None]:
    with read_store(path) as store:
        return [reply["text"] for reply in store.replies_of(1)]


def bank(path: Path, **difficulties: Any) -> Path:
    items = [{"item": name, "difficulty": value} for name, value in difficulties.items()]
    path.write_text(json.dumps({"items": items}), encoding="utf-8")
    return path


@pytest.mark.parametrize(("theta", "difficulty"), [("0.5", "0"), ("-3.25", "1.75"), ("30", "-30"), ("-0.001", "0")])
def test_the_threshold_is_the_logistic_function(theta: str, difficulty: str) -> None:
    mpmath.mp.dps = 60
    exact = 1 / (1 + mpmath.exp(mpmath.mpf(difficulty) - mpmath.mpf(theta)))
    assert success_threshold(Decimal(theta), Decimal(difficulty)) == int(mpmath.floor(exact * SCALE))


@pytest.mark.parametrize(("theta", "expected"), [("0", 0.5), ("1", 0.731), ("-2", 0.119), ("40", 1.0), ("-40", 0.0)])
@pytest.mark.long
def test_the_share_of_right_answers_is_that_of_the_model(
    tiny: Make, tmp_path: Path, theta: str, expected: float
) -> None:
    found = counts(tiny(templates=10, k=100), f"theta={theta}", tmp_path / "a.run")
    error = 4 * math.sqrt(expected * (1 - expected) * 1000)  # four standard deviations of a binomial count
    assert abs(found["correct"] - 1000 * expected) <= error and found["correct"] + found["wrong"] == 1000


def test_difficulties_come_from_a_bank_by_question_item_or_benchmark(tiny: Make, tmp_path: Path) -> None:
    path = bank(tmp_path / "bank.json", sum_0=-40, tiny="40")
    dia_runtime.run(tiny(k=50), f"simulated:theta=0,bank={path}", tmp_path / "a.run")
    assert dia_runtime.score(tmp_path / "a.run")["models"][0]["tsr"] == {"sum_0": 50, "sum_1": 0}
    items = [{"item": "sum_1", "difficulty": 40.5}, {"item": "tiny/sum_1/7", "difficulty": -40}]
    path.write_text(json.dumps({"items": items}), encoding="utf-8")
    summary = dia_runtime.run(tiny("b", k=50), f"simulated:theta=0,bank={path}", tmp_path / "b.run")
    found = dia_runtime.score(tmp_path / "b.run")["models"][0]
    assert summary.respondents[0].errors == 50 and found["counts"]["correct"] == 1  # sum_0 is not in the bank


def test_another_bank_is_another_respondent(tiny: Make, tmp_path: Path) -> None:
    bundle, path = tiny(), bank(tmp_path / "bank.json", tiny=0)
    dia_runtime.run(bundle, f"simulated:theta=0,bank={path}", tmp_path / "a.run")
    bank(path, tiny=1)
    name = f"simulated:theta=0,bank={path}"
    refusal("E805", "with other settings: bank ", lambda: dia_runtime.run(bundle, name, tmp_path / "a.run"))


def test_what_is_not_right_is_skipped_or_a_named_mistake(tiny: Make, tmp_path: Path) -> None:
    bundle = tiny(templates=10, k=40)
    found = counts(bundle, "theta=-40,skip=0.25", tmp_path / "a.run")
    assert found["correct"] == found["unparsed"] == 0 and abs(found["skipped"] - 100) < 35
    assert counts(bundle, "theta=-40,skip=1", tmp_path / "b.run")["skipped"] == 400
    products = {f"<xml>{record['mistakes']['product']}</xml>" for record in dia_runtime.open_bundle(bundle).answers()}
    wrong = {text for text in texts(tmp_path / "a.run") if text != "<xml>I-DO-NOT-KNOW</xml>"}
    assert wrong <= products


def test_replies_are_pinned(tiny: Make, tmp_path: Path) -> None:
    """The draw, done again by hand: SHA-256 against the probability 1 / (1 + exp(-0.5)), in whole numbers."""
    bundle = tiny(k=20)
    dia_runtime.run(bundle, "simulated:theta=0.50,seed=s", tmp_path / "a.run", attempts=2)
    mpmath.mp.dps = 100
    share, expected = 1 / (1 + mpmath.exp(-mpmath.mpf("0.5"))), []
    for answer in dia_runtime.open_bundle(bundle).answers():
        for attempt in (1, 2):
            digest = hashlib.sha256(f"answer\ns\n0.5\n{answer['id']}\n{attempt}".encode()).hexdigest()
            is_right = mpmath.mpf(int(digest, 16)) / 2**256 < share
            expected.append(f"<xml>{answer['text'] if is_right else answer['mistakes']['product']}</xml>")
    assert texts(tmp_path / "a.run") == expected


def test_seeds_attempts_and_abilities_err_independently(tiny: Make, tmp_path: Path) -> None:
    bundle, found = tiny(templates=10, k=40), {}
    for name in ("theta=0", "theta=0,seed=1", "theta=0.01"):
        dia_runtime.run(bundle, f"simulated:{name}", tmp_path / f"{name}.run")
        found[name] = texts(tmp_path / f"{name}.run")
    one, *others = found.values()
    for other in others:
        assert 140 < sum(a == b for a, b in zip(one, other, strict=True)) < 260


def test_the_replies_are_the_same_in_another_process(tiny: Make, tmp_path: Path) -> None:
    bundle = tiny(k=50)
    name = "simulated:theta=0.3,skip=0.2"
    dia_runtime.run(bundle, name, tmp_path / "0.run")
    script = "import sys, dia_runtime; dia_runtime.run(*sys.argv[1:]); print(hash('word'))"
    for hash_seed in ("1", "2"):  # one of them is not that of this process
        command = [sys.executable, "-c", script, str(bundle), name, str(tmp_path / "1.run")]
        done = subprocess.run(
            command, check=True, env={**os.environ, "PYTHONHASHSEED": hash_seed}, capture_output=True, text=True
        )
        if int(done.stdout) != hash("word"):
            break
    assert int(done.stdout) != hash("word")
    assert texts(tmp_path / "0.run") == texts(tmp_path / "1.run")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "needs `theta`, the ability\n  help: write simulated:theta=0.5,"),
        ("seed=1", "needs `theta`"),
        ("theta=", "needs `theta`"),
        ("theta=1e9", "`theta` must be a decimal number such as 0.5, not `1e9`"),
        ("theta=nan", "decimal number"),
        ("theta=0,skip=2", "share from 0 to 1"),
        ("theta=0,skp=1", "`skp=1` is not an argument of `simulated`\n  help: did you mean `skip`?"),
        ("theta=0,", "`` is not an argument"),
        ("theta=0,bank=nowhere.json", "cannot be read: No such file or directory\n  help: name a bank"),
    ],
)
def test_arguments_that_make_no_sense(tiny: Make, tmp_path: Path, arguments: str, message: str) -> None:
    refusal("E843", message, lambda: dia_runtime.run(tiny(), f"simulated:{arguments}", tmp_path / "a.run"))
    assert not (tmp_path / "a.run").exists()


@pytest.mark.parametrize(
    "content",
    [
        "", "[]", "{}", '{"items": 7}', '{"items": [7]}', '{"items": [{"item": "a"}]}', "[" * 100_000,
        '{"items": [{"item": "a", "difficulty": NaN}]}', '{"items": [{"item": "a", "difficulty": "x"}]}',
        '{"items": [{"item": "a", "difficulty": 1e9}]}', '{"items": [{"item": 7, "difficulty": 1}]}',
        '{"items": [{"item": "a", "difficulty": 1}, {"item": "a", "difficulty": 2}]}',
    ],
)  # fmt: skip
def test_banks_that_are_none(tiny: Make, tmp_path: Path, content: str) -> None:
    (tmp_path / "bank.json").write_text(content, encoding="utf-8")
    name = f"simulated:theta=0,bank={tmp_path / 'bank.json'}"
    refusal("E843", "bank.json` cannot be used: ", lambda: dia_runtime.run(tiny(), name, tmp_path / "a.run"))


def test_the_answers_are_needed(tiny: Make, tmp_path: Path) -> None:
    error = "`simulated:theta=0` needs the answers, but"
    refusal("E808", error, lambda: dia_runtime.run(tiny(sealed=True), "simulated:theta=0", tmp_path / "a.run"))
