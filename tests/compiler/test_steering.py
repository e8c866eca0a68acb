"""`dia compile --success`: instances of a predicted difficulty, by a bank whose explanation is written here."""

from __future__ import annotations

import json
import math
import re
import runpy
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.commands.cli import run
from dia_compiler.pipeline.recompile import recompile
from dia_compiler.sampling.steering import (
    Prediction,
    Target,
    TargetUnreached,
    TemplateRule,
    TemplateSteering,
    model_target,
    steering_from,
)
from dia_language.diagnostics import DiaError
from dia_language.workers import heartbeat
from dia_runtime.bundle.open import open_bundle
from dia_runtime.psychometrics.rasch.bank import Bank, BankItem, BankModel, read_bank, write_bank
from helpers.failures import refusal
from helpers.places import ROOT
from helpers.schemas import faults
from helpers.small_specs import expansion

SPECS = {
    "benchmark.yaml": "language: 2\nbenchmark: sums\nversion: 1.0.0\n",
    "add.yaml": """\
template: add
title: A sum
params:
  n: {type: integer, min: 1, max: 10000}
  kind: {type: choice, of: [plus, and]}
skills: "= ['words'] if kind == 'and' else []"
answer: {value: n + 1, type: integer}
prompt: "{{ n }} {{ kind }} 1?"
""",
    "double.yaml": """\
template: double
title: A double
params:
  n: {type: integer, min: 1, max: 10000}
answer: {value: n * 2, type: integer}
prompt: "Twice {{ n }}?"
""",
    "fixed.yaml": """\
template: fixed
title: Each
params:
  n: {type: integer, min: 1, max: 9}
  m: {type: integer, min: 1, max: 9}
each: n
answer: {value: n * m, type: integer}
prompt: "{{ n }} times {{ m }}?"
""",
}
# difficulty = -0.5 + 1.2 (ln(1 + n) - 6) / 1.5 + 0.7 words
EXPLANATION: dict[str, Any] = {
    "constant": -0.5,
    "features": [
        {"how": "skill", "name": "words", "template": None, "level": None, "middle": 0.0, "unit": 1.0, "weight": 0.7},
        {"how": "logarithm", "name": "n", "template": "add", "level": None, "middle": 6.0, "unit": 1.5, "weight": 1.2},
        {"how": "logarithm", "name": "n", "template": "double", "level": None, "middle": 6.0, "unit": 1.5,
         "weight": 1.2},
    ],
    "templates": [
        {"template": "add", "items": 40, "se": 0.2, "error": 0.6, "why": None},
        {"template": "double", "items": 6, "se": 0.2, "error": 0.6, "why": "the bank has 6 of its items"},
    ],
    "new_templates": None,
}  # fmt: skip


def bank_with(explanation: dict[str, Any] | None) -> Bank:
    models = (BankModel("able", 0.4, 0.1), BankModel("vague", 0.4, 0.9))
    return Bank((BankItem("sums/add/0", 0.0),), models, "known", "none", unit="instances", explanation=explanation)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "sums").mkdir()
    for name, text in SPECS.items():
        (tmp_path / "sums" / name).write_text(text, encoding="utf-8")
    write_bank(bank_with(EXPLANATION), tmp_path / "bank.json")
    write_bank(bank_with(None), tmp_path / "plain.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def few_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up after a tenth of the instances that are usually tried."""
    monkeypatch.setattr("dia_compiler.sampling.steering.CANDIDATES", 2_000)


def compiled(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    assert run(["compile", "sums", "--bank", "bank.json", "--jobs", "1", "--json", "-q", *options]) == 0
    record = json.loads(capsys.readouterr().out)
    assert faults("compile", record) == []
    bundle: dict[str, Any] = record["bundles"][0]
    return bundle


def test_chosen_instances_are_where_they_were_asked_for_and_can_be_chosen_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    facts = compiled(capsys, "--success", "0.6", "--for", "able", "--k", "24")
    bundle = open_bundle(Path(facts["path"]))
    answers = list(bundle.answers())
    for answer, question in zip(answers, bundle.questions(), strict=True):
        n = answer["parameters"]["n"]
        assert question["skills"] == (["words"] if answer["parameters"]["kind"] == "and" else [])
        difficulty = -0.5 + 1.2 * (math.log(1 + n) - 6) / 1.5 + 0.7 * (answer["parameters"]["kind"] == "and")
        # the mean success over a normal error of 0.6 logits, by adding up its density
        steps = [at / 50 for at in range(-300, 301)]
        density = [math.exp(-(step**2) / 2) for step in steps]
        chances = [1 / (1 + math.exp(difficulty + 0.6 * step - 0.4)) for step in steps]
        mean = sum(chance * weight for chance, weight in zip(chances, density, strict=True)) / sum(density)
        assert abs(float(answer["predicted"]["difficulty"]) - difficulty) < 1e-6
        assert abs(float(answer["predicted"]["success"]) - mean) < 0.005 and abs(mean - 0.6) < 0.105
    assert abs(facts["steering"]["success"]["mean"] - 0.6) < 0.02
    assert len({json.dumps(answer["parameters"]) for answer in answers}) == 24
    (template,) = facts["steering"]["templates"]
    assert template == {"template": "add", **{name: facts["steering"][name] for name in ("success", "difficulty")}}
    reasons = {entry["template"]: entry["why"] for entry in facts["steering"]["refused"]}
    assert reasons == {"double": "the bank has 6 of its items", "fixed": "it has `each`, so its items are fixed"}
    assert bundle.manifest["steering"]["bank"] == json.loads(Path("bank.json").read_bytes())["checksum"]
    assert bundle.manifest["steering"]["model"] == "able"
    Path("bank.json").rename("gone.json")
    assert recompile(Path(facts["path"]), jobs=1)["same"]  # the manifest is enough
    broken = {**bundle.manifest["steering"], "templates": 5}
    refusal("E702", "the manifest's `steering` is malformed", lambda: steering_from(broken), 3)
    Path("gone.json").rename("bank.json")
    fewer = compiled(capsys, "--success", "0.6", "--for", "able", "--k", "9", "--no-cache")
    first = [answer["parameters"] for answer in open_bundle(Path(fewer["path"])).answers()]
    assert first == [answer["parameters"] for answer in answers[:9]]
    again = compiled(capsys, "--success", "0.6", "--for", "able", "--k", "9", "-o", "other", "--no-cache")
    assert again["digest"] == fewer["digest"]


def test_instances_on_one_side_of_what_was_asked_for_get_a_warning_with_the_predictions_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The hardest instance, `10000 and 1?`, has a predicted difficulty of 2.77: at an ability of 2.4, 0.41 or more."""
    bank = ["compile", "sums", "--bank", "bank.json", "--jobs", "1", "--ability", "2.400000001", "--k", "5"]
    for again in range(2):  # the second time, the bundle is already there
        assert run([*bank, "--success", "0.35"]) == 0, again
        message = " ".join(capsys.readouterr().err.split())
        assert "sums/add.yaml:1:11: warning[off-target]: the chosen instances are easier than requested" in message
        pattern = (
            r"mean predicted success is (0\.\d\d) instead of 0\.35, because none of [\d,]+ drawn instances has a"
            r" prediction from 0\.25 to 0\.35; all predictions are from (0\.\d\d) to (?:0\.9\d|1\.00)"
        )
        match = re.search(pattern, message)
        assert match is not None and 0.41 <= float(match[2]) <= float(match[1]) <= 0.45
    assert run([*bank, "--success", "0.35", "--strict", "--force", "--no-cache"]) == 2
    capsys.readouterr()
    assert run([*bank, "--success", "0.45"]) == 0  # a fifth of what there is, on both sides
    assert "off-target" not in capsys.readouterr().err
    spec = Path("sums/add.yaml")
    spec.write_text(spec.read_text(encoding="utf-8") + "allow: {off-target: no sum is harder}\n", encoding="utf-8")
    assert run([*bank, "--success", "0.35", "--force"]) == 0
    assert "off-target" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("successes", "message"),
    [
        (
            ["0.41", "0.43"] * 200,
            "harder than requested: their mean predicted success is 0.42 instead of 0.5, because none of",
        ),
        (["0.41", "0.43"] * 199 + ["0.51"], "because only 1 of 399 drawn instances has a prediction from 0.5 to 0.6"),
        (["0.41", "0.43"] * 199 + ["0.51"] * 2, "because only 2 of 400 drawn instances have a prediction from 0.5"),
        (["0.46", "0.47"] * 200, None),  # on one side, but near enough
        (["0.41", "0.43", "0.59"] * 200, None),
        (["0.59"], None),  # a single instance is within the tolerance
    ],
)
def test_the_warning_is_about_means_that_miss_by_more_than_half_of_the_tolerance(
    successes: list[str], message: str | None
) -> None:
    rule = TemplateRule(Decimal(0), (), Decimal("0.5"))
    chooser = TemplateSteering("add", Target(Decimal("0.5"), ability=Decimal(0)), rule).chooser()
    for success in successes:
        chooser.takes(Prediction(Decimal(0), Decimal(success)))
    warning = chooser.off_target()
    assert warning is None if message is None else message in (warning or "")


@pytest.mark.long
def test_a_template_with_few_instances_near_the_goal_gives_all_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    """The sums `55 and 1?` to `60 and 1?` have a predicted success of 0.43 to 0.45; all others are easier.

    The balance about the goal would pass most of them over.
    """
    spec = Path("sums/add.yaml")
    spec.write_text(spec.read_text(encoding="utf-8").replace("max: 10000", "max: 60"), encoding="utf-8")
    options = ["--success", "0.35", "--ability", "-1.6", "--no-cache", "--force", "--k"]
    numbers = []
    for k in ("6", "4"):
        bundle = Path(compiled(capsys, *options, k)["path"])
        numbers.append([answer["parameters"]["n"] for answer in open_bundle(bundle).answers()])
        assert recompile(bundle, jobs=1)["same"]
    assert sorted(numbers[0]) == [55, 56, 57, 58, 59, 60] and numbers[1] == numbers[0][:4]
    assert run(["compile", "sums", "--bank", "bank.json", "--jobs", "1", *options, "7"]) == 2
    assert "too few of its instances have a predicted success from 0.25 to 0.45" in capsys.readouterr().err


SLOPE = {
    "model": "able", "items": 40, "slope": 2.5, "ci": [1.7, 3.7], "log_se": 0.2,
    "templates": {"add": {"ability": 0.1, "se": 0.15, "covariance": 0.01}},
    "others": {"ability": -0.2, "se": 0.3, "covariance": 0.02},
}  # fmt: skip


def test_the_slope_of_a_model_makes_its_success_change_faster_with_difficulty(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    write_bank(bank_with({**EXPLANATION, "slopes": [SLOPE]}), folder / "bank.json")
    assert run(["compile", "sums", "--bank", "bank.json", "--jobs", "1", "--success", "0.3", "--for", "able"]) == 0
    told = "slope of able 2.50 [1.70, 3.70]: its success changes with difficulty faster than the Rasch model predicts"
    assert told in capsys.readouterr().out
    facts = compiled(capsys, "--success", "0.3", "--for", "able", "--k", "20", "--no-cache")
    bundle = open_bundle(Path(facts["path"]))
    for answer in bundle.answers():
        n, is_word = answer["parameters"]["n"], answer["parameters"]["kind"] == "and"
        difficulty = -0.5 + 1.2 * (math.log(1 + n) - 6) / 1.5 + 0.7 * is_word
        scale = math.sqrt(1 + math.pi / 8 * 0.6**2)
        success = 1 / (1 + math.exp(-2.5 * (0.1 - difficulty) / scale))
        assert abs(float(answer["predicted"]["success"]) - success) < 2e-6 and abs(success - 0.3) < 0.1001
    assert facts["steering"]["slope"] == {"model": "able", "value": 2.5, "ci": [1.7, 3.7]}
    assert bundle.manifest["steering"]["slope"] == {"value": "2.5", "low": "1.7", "high": "3.7"}
    assert bundle.manifest["steering"]["ability"] == "-0.2"
    assert bundle.manifest["steering"]["templates"]["add"]["ability"] == "0.1"
    assert faults("manifest", bundle.manifest) == [] and recompile(Path(facts["path"]), jobs=1)["same"]
    others = (
        ["--success", "0.5", "--for", "vague"],
        ["--success", "0.5", "--ability", "0.4"],
        ["--difficulty", "0..1"],
    )
    for options in others:  # nobody knows the slope of these, or it does not matter
        assert run(["compile", "sums", "--bank", "bank.json", "--jobs", "1", "--json", *options]) in (0, 2)
        assert '"slope"' not in capsys.readouterr().out
    target = model_target(bank_with({**EXPLANATION, "slopes": [SLOPE]}), Decimal("0.3"), BankModel("able", 0.4, 0.1))
    # by the delta method: the logit is 2.5 (ability - difficulty), and at 0.3 it is ln(3 / 7)
    logit, size = math.log(3 / 7), 0.21 * math.sqrt(2 / math.pi)
    known = math.sqrt(2.5**2 * 0.15**2 + logit**2 * 0.2**2 + 2 * 2.5 * logit * 0.01)
    new = math.sqrt(2.5**2 * (0.3**2 + 0.2**2) + logit**2 * 0.2**2 + 2 * 2.5 * logit * 0.02)
    assert float(target.miss("add", Decimal("0.2"))) == pytest.approx(size * known)
    assert float(target.miss("another", Decimal("0.2"))) == pytest.approx(size * new)
    for wrong in ({"slope": 0}, {"slope": "2"}, {"others": None}, {"log_se": 1e400}):
        with pytest.raises(DiaError, match="explanation of difficulties is malformed") as error:
            model_target(
                bank_with({**EXPLANATION, "slopes": [{**SLOPE, **wrong}]}), Decimal("0.3"), BankModel("able", 0)
            )
        assert error.value.exit_code == 3


@pytest.mark.parametrize(
    ("goal", "ending"),
    [("0.3", "; all predictions are from 0.13 to 0.82, with none between 0.13 and 0.45"), ("0.4", " to 0.82")],
)
def test_a_target_between_two_predictions_names_them(goal: str, ending: str) -> None:
    target = Target(Decimal(goal), ability=Decimal(0))
    chooser = TemplateSteering("add", target, TemplateRule(Decimal(0), (), Decimal("0.5"))).chooser()
    for success in ("0.45", "0.13", "0.82"):
        chooser.takes(Prediction(Decimal(0), Decimal(success)))
    assert str(chooser.unreached()).endswith(ending)


@pytest.mark.parametrize("template", ["double", "add"])  # the skills of `add` depend on the draw
def test_an_instance_outside_the_target_restarts_the_time_limit_of_the_search(
    template: str, few_candidates: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a slow template ends with the advice to reject fewer draws, instead of the reachable predictions."""
    cell = [0] * heartbeat.CELLS
    monkeypatch.setattr(heartbeat, "_CELL", cell)
    expanded = expansion(tmp_path / "small", SPECS[f"{template}.yaml"])
    target = Target(Decimal("0.9"), ability=Decimal(-5))
    steering = TemplateSteering(template, target, TemplateRule(Decimal(0), (), Decimal("0.5")))
    expanded.settings = replace(expanded.settings, steering=steering)
    with pytest.raises(TargetUnreached, match=r"success from 0\.8 to 1\.0; all predictions are from 0\.01 to 0\.01"):
        next(expanded.drafts(1))
    assert cell[2] >= 2 * 2_000  # it counts beginnings and ends
    assert cell[2] % 2 == 0


def test_a_range_of_difficulties_needs_no_model(capsys: pytest.CaptureFixture[str]) -> None:
    facts = compiled(capsys, "--difficulty", "-1..-0.25", "--k", "12")
    records = [answer["predicted"] for answer in open_bundle(Path(facts["path"])).answers()]
    assert len(records) == 12 and all(-1 <= float(record["difficulty"]) <= -0.25 for record in records)
    assert all("success" not in record for record in records) and facts["steering"]["success"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--success", "0.5", "--for", "able", "--bank", "plain.json"],
            "of difficulties help: write a bank with one: ",
        ),
        (["--success", "0.5", "--for", "abel", "--bank", "bank.json"], "no model `abel` help: did you mean `able`?"),
        (["--success", "0.5", "--for", "vague", "--bank", "bank.json"], "would miss the target by 0.18 on average"),
        (["--success", "0.99", "--for", "able", "--bank", "bank.json"], "a probability from 0.05 to 0.95, not 0.99"),
        (
            ["--success", "0.5", "--bank", "bank.json"],
            "--success needs one model help: name one of the bank with --for",
        ),
        (["--success", "0.5", "--for", "able"], "--bank is missing help: name the file that"),
        (["--bank", "bank.json"], "give either --success or --difficulty help: for example"),
        (["--difficulty", "1..-1", "--bank", "bank.json"], "`1..-1` is not a range of difficulties help: write two"),
        (
            ["--difficulty", "5..6", "--bank", "bank.json"],
            # `5 plus 1?` and `10000 and 1?`
            "all predictions are from -3.87 to 2.77 help: ask for a success or difficulty in this range",
        ),
        (["--difficulty", "0..1", "--bank", "bank.json", "--part", "1/2"], "leave out --part"),
    ],
)
@pytest.mark.usefixtures("few_candidates")
def test_what_cannot_be_chosen_is_refused_with_the_reason(
    capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert run(["compile", "sums", "--jobs", "1", *options]) == 2
    printed = " ".join(capsys.readouterr().err.split())
    assert message in printed and not Path("build").exists()
    assert "--part" in options or "error[E898]: " in printed


def test_a_bank_keeps_its_explanation_and_others_keep_their_bytes() -> None:
    assert read_bank("bank.json") == bank_with(EXPLANATION)
    assert b"explanation" not in Path("plain.json").read_bytes()
    write_bank(replace(bank_with(EXPLANATION), explanation={"constant": "high"}), "odd.json")
    from dia_compiler.commands.steering import steering_request

    with pytest.raises(DiaError, match="malformed") as error:
        steering_request(None, "0..1", None, None, Path("odd.json")).of(["add"])
    assert error.value.exit_code == 3


def test_the_report_shows_predicted_and_observed_success_and_what_was_left_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    facts = compiled(capsys, "--success", "0.3", "--for", "able", "--k", "8")
    assert run(["run", facts["path"], "--model", "oracle", "-o", "o.run", "-q"]) == 0
    assert run(["report", "o.run", "-o", "page.html"]) == 0
    page = Path("page.html").read_text(encoding="utf-8")
    section = page[page.index('<section id="predicted"') :].partition("</section>")[0]
    mean = sum(float(answer["predicted"]["success"]) for answer in open_bundle(Path(facts["path"])).answers()) / 8
    # Wilson's interval of 8 of 8: 8 / (8 + 1.96 ** 2)
    for text in (f">{100 * mean:.1f} %<", ">100.0 %<small>67.6 to 100.0<", "the bank has 6 of its items", "for able"):
        assert text in section
    assert section.count("<svg") == 2


@pytest.mark.long
def test_in_the_study_success_is_close_to_what_was_asked_for() -> None:
    study = runpy.run_path(str(ROOT / "docs" / "studies" / "steering.py"))
    names = study["world"].__globals__
    names.update(TEMPLATES=16, NEW_ABILITIES=(0.0,), TARGETS=("0.5",))
    panel, templates = study["world"](11, 0.3, 0.1, 20)
    bank, _ = study["explained"](panel)
    shift = sum(entry.ability for entry in bank.models) / len(bank.models)  # the true mean ability is 0
    rows = list(study["successes"](bank, templates, shift))
    known = [rate for is_known, _, _, rate in rows if is_known and rate is not None]
    assert len(rows) == 16 and len(known) >= 2 and abs(sum(known) / len(known) - 0.5) < 0.1
    own = list(study["own_successes"](bank, templates, 1.0))
    for has_slopes in (False, True):
        rates = [rate for kind, _, _, rate in own if kind == (1.0, has_slopes, True) and rate is not None]
        assert len(rates) >= 6 and abs(sum(rates) / len(rates) - 0.5) < 0.1
