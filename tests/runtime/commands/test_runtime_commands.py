from __future__ import annotations

import csv
import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from dia_language.diagnostics import DiaError
from dia_runtime.bundle.canonical import manifest_bytes
from dia_runtime.bundle.manifest import with_checksum
from helpers.failures import require_error
from helpers.schemas import require_valid

Make = Callable[..., Path]
COMMANDS = ("run", "score", "verify", "show")


def command(name: str) -> click.Command:
    found: click.Command = import_module(f"dia_runtime.commands.{name}").command
    return found


def called(name: str, *arguments: object) -> Result:
    """The result of the command; `return_value` is its exit code."""
    result = CliRunner().invoke(command(name), [str(part) for part in arguments], standalone_mode=False)
    if result.exception and not isinstance(result.exception, DiaError):
        raise result.exception
    return result


def failed(name: str, *arguments: object) -> DiaError:
    error = called(name, *arguments).exception
    assert isinstance(error, DiaError)
    return error


def facts(result: Result, schema: str) -> dict[str, Any]:
    """The JSON that the command printed, which keeps its schema."""
    found = json.loads(result.stdout)
    require_valid(schema, found)
    return dict(found)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_begins_with_a_verb_and_ends_with_an_example(name: str) -> None:
    shown = CliRunner().invoke(command(name), ["--help"])
    assert shown.exit_code == 0
    text = command(name).help or ""
    assert text.split()[0] in {"Ask", "Grade", "Show", "Verify"}
    assert text.strip().splitlines()[-1].strip().startswith(f"dia {name} ")


def test_a_run_tells_where_it_lies(tiny: Make) -> None:
    bundle = tiny()
    result = called("run", bundle, "--model", "oracle", "--model", "guess")
    assert result.return_value == 0
    assert result.stdout.split() == ["build/runs/tiny-oracle.run", "build/runs/tiny-guess.run"]
    assert result.stderr.splitlines() == ["oracle: 6 of 6 replies", "guess: 6 of 6 replies"]
    again = called("run", bundle, "--model", "oracle")
    assert again.stderr.splitlines() == ["oracle: 6 of 6 replies, 6 of them already in the run"]


def test_a_run_with_out_holds_all_models(tiny: Make) -> None:
    result = called("run", tiny(), "--model", "oracle", "--model", "abstain", "-o", "deep/all.run", "-q", "--json")
    found = facts(result, "run")
    assert [entry["model"] for entry in found["runs"]] == ["oracle", "abstain"]
    assert {entry["path"] for entry in found["runs"]} == {"deep/all.run"}
    assert result.stderr == "" and found["questions"] == 6 and found["attempts"] == 1


def test_limit_and_attempts(tiny: Make) -> None:
    result = called("run", tiny(), "--model", "oracle", "--limit", 2, "--attempts", 3, "--json")
    assert facts(result, "run")["runs"][0]["asked"] == 6
    assert result.stderr.splitlines() == ["oracle: 6 of 6 replies"]


def test_errors_are_a_failed_gate(tiny: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    # An item of one instance whose every candidate is right leaves `wrong` without a reply.
    baselines = import_module("dia_runtime.respondents.baselines")
    monkeypatch.setattr(baselines.Wrong, "_candidates", lambda self, record, question: iter(()))
    result = called("run", tiny(), "--model", "wrong")
    assert result.return_value == 1 and "6 errors" in result.stderr


def test_all_names_are_known_before_any_is_asked(tiny: Make) -> None:
    error = failed("run", tiny(), "--model", "oracle", "--model", "orakle")
    require_error(error, "E806", "unknown model `orakle`\n  help: did you mean `oracle`?")
    assert not Path("build").exists()


def test_an_interrupted_run_says_how_to_go_on(tiny: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(import_module("dia_runtime.running.run"), "run", interrupted)
    result = called("run", tiny(), "--model", "oracle")
    assert result.return_value == 130 and "repeat the command to continue" in result.stderr and result.stdout == ""


def test_a_hostile_name_stays_in_the_folder_of_runs(tiny: Make) -> None:
    bundle = tiny(templates=1, k=1)
    held = json.loads((bundle / "manifest.json").read_bytes())
    (bundle / "manifest.json").write_bytes(manifest_bytes(with_checksum({**held, "benchmark": "../../x y"})))
    assert called("run", bundle, "--model", "oracle").stdout.split() == ["build/runs/x-y-oracle.run"]


def test_a_bar_is_drawn_on_a_terminal(tiny: Make) -> None:
    program = "import sys; from dia_runtime.commands.run import command; command(sys.argv[1:])"
    ours, theirs = pty.openpty()
    arguments = [str(tiny()), "--model", "oracle", "-o", "a.run"]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        stderr=theirs,
        stdout=subprocess.PIPE,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
        check=False,
    )
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    assert done.stdout == b"a.run\n" and "6/6" in shown and "oracle" in shown and "0 errors" in shown


@pytest.fixture
def scored(tiny: Make) -> Path:
    called("run", tiny(), "--model", "oracle", "--model", "abstain", "--model", "wrong", "-o", "all.run", "-q")
    return Path("all.run")


def test_score_prints_a_table_best_first(scored: Path) -> None:
    first = called("score", scored)
    assert first.return_value == 0 and first.stderr == ""
    assert [line.split()[:2] for line in first.stdout.splitlines()[3:6]] == [
        ["1", "oracle"], ["2", "abstain"], ["3", "wrong"],
    ]  # fmt: skip
    result = called("score", scored, "--tables", "all")
    assert result.return_value == 0 and result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0] == "tiny 1: 2 items, k = 3"
    assert lines[2].split()[:8] == ["model", "n", "correct", "skipped", "wrong", "unparsed", "error", "RS@k"]
    assert [line.split()[0] for line in lines[3:6]] == ["oracle", "abstain", "wrong"]
    assert lines[3].split()[7:15] == ["2.0", "+-", "0.0", "[-3.1,", "2.0]", "100.00", "+-", "0.00"]
    assert lines[7].split()[:3] == ["model", "NMS@k", "Pass@k"] and "200.00" not in result.stdout
    assert lines[12].split()[:4] == ["model", "abstained", "%", "unparsed"]
    assert "By category" in lines and "By domain" in lines


def test_score_as_json(scored: Path) -> None:
    found = facts(called("score", scored, "--json"), "score")
    assert [model["rs"]["value"] for model in found["models"]] == [2, 0, -4]
    assert found["models"][0]["conf"]["value"] == 1


def test_score_as_csv(scored: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(called("score", scored, "--format", "csv").stdout)))
    assert [row["model"] for row in rows if not row["by"]] == ["oracle", "abstain", "wrong"]
    assert {row["group"] for row in rows if row["by"] == "domain"} == {"mathematics", "language"}
    assert rows[2]["RS@k"] == "-4.0" and rows[0]["Conf@k %"] == "100.00" and rows[0]["Conf@k % SE"] == "0.00"
    assert (rows[0]["Conf@k % low"], rows[0]["Conf@k % high"]) == ("15.8", "100.0")


def test_score_as_markdown(scored: Path) -> None:
    lines = called("score", scored, "--format", "markdown").stdout.splitlines()
    assert lines[2].startswith("| model | n |") and lines[3].startswith("| --- | ---: |")
    assert all(line.count("|") == lines[2].count("|") for line in lines[2:7])
    assert lines[7] == "" and lines[8].startswith("| model | NMS@k | Pass@k % | correct % |")


def test_score_as_latex(scored: Path) -> None:
    text = called("score", scored, "--format", "latex").stdout
    assert (
        text.startswith("% tiny 1: 2 items, k = 3\n\\begin{tabular}{lrrrrrrrr}")
        and r"$100.00 \pm 0.00\;[15.8, 100.0]$" in text
    )


@pytest.mark.parametrize("label", ["level", "skill", "item", "template", "number", "adversarial"])
def test_score_by_a_label(scored: Path, label: str) -> None:
    lines = called("score", scored, "--by", label).stdout.splitlines()
    assert f"By {label}" in lines and "By category" not in lines
    found = facts(called("score", scored, "--by", label, "--json"), "score")
    groups = found["models"][0][f"by_{label}"]
    assert sum(block["counts"]["correct"] for block in groups.values()) == 6
    wanted = {"level": {"easy"}, "skill": {"addition"}, "number": {"1", "2"}, "adversarial": {"none"}}
    assert set(groups) == wanted.get(label, {"sum_0", "sum_1"})


def test_an_unknown_label_is_told_with_the_closest(scored: Path) -> None:
    error = failed("score", scored, "--by", "skills")
    require_error(error, "E811", "`by` cannot be `skills`; choose from category, domain, ")
    require_error(error, "E811", "\n  help: did you mean `skill`?")


def test_points_that_the_models_were_not_told_are_noted(scored: Path) -> None:
    note = called("score", scored, "--points", "wrong=-1").stderr
    assert note.startswith("note: the points wrong=-1 differ from the benchmark's (correct=1 skipped=0 wrong=-2)")
    assert called("score", scored, "--points", "wrong=-2").stderr == ""
    found = facts(called("score", scored, "--points", "wrong=-1", "--json"), "score")
    assert found["points_differ"] and found["points_told"] == [{"correct": "1", "skipped": "0", "wrong": "-2"}]


def test_score_over_attempts(tiny: Make) -> None:
    called("run", tiny(), "--model", "oracle", "--attempts", 3, "-o", "a.run", "-q")
    found = facts(called("score", "a.run", "--over", "attempts", "--json"), "score")
    (model,) = found["models"]
    assert (found["k"], found["n"], model["n"], model["missing"]) == (3, 6, 6, 0)
    assert set(model["tsr"].values()) == {3} and model["counts"]["correct"] == 18
    assert called("score", "a.run", "--over", "attempts").stdout.startswith("tiny 1: 6 questions, k = 3\n")


def test_score_into_a_file(scored: Path) -> None:
    result = called("score", scored, "--json", "-o", "out/score.json")
    assert result.stdout == "" and json.loads(Path("out/score.json").read_text())["n"] == 2


def test_score_with_other_points(scored: Path) -> None:
    found = facts(called("score", scored, "--points", "wrong=-1,skipped=1/2", "--json"), "score")
    assert [model["rs"]["value"] for model in found["models"]] == [2, 1, -2]
    assert found["points"] == {"wrong": "-1", "skipped": "1/2"}
    require_error(
        failed("score", scored, "--points", "wrong"), "E811", "does not have the form VERDICT=N\n  help: write"
    )
    error = "the points of `wrong` are not an exact number: much\n  help: write an integer, a decimal or a fraction"
    require_error(failed("score", scored, "--points", "wrong=much"), "E811", error)


def test_notes_say_what_the_tables_leave_out(tiny: Make) -> None:
    called("run", tiny(), "--model", "oracle", "--limit", 2, "-q")
    result = called("score", "build/runs/tiny-oracle.run")
    assert result.stderr == "" and "Questions never asked, which no figure counts: oracle (4)." in result.stdout
    for options in (("--tables", "all"), ("--format", "csv"), ("--json",)):
        result = called("score", "build/runs/tiny-oracle.run", *options)
        assert result.stderr == "note: oracle: 4 questions never asked; no figure counts them\n"
    assert called("score", "build/runs/tiny-oracle.run", "-q").stderr == ""


def test_a_quiet_group_is_heard(scored: Path) -> None:
    @click.pass_context
    def remember(context: click.Context) -> None:
        context.meta["dia.quiet"] = True

    group = click.Group("dia", [command("run")], callback=remember)
    bundle = next(Path().glob("bundle"))
    result = CliRunner().invoke(group, ["run", str(bundle), "--model", "oracle"])
    assert result.stderr == "" and result.stdout.strip() == "build/runs/tiny-oracle.run"


def test_verify_tells_a_whole_bundle(tiny: Make) -> None:
    result = called("verify", tiny())
    assert result.return_value == 0
    first, *rest = result.stdout.splitlines()
    assert first.endswith(": complete, valid")
    assert any("not covered" in line and "provenance.json" in line for line in rest)
    assert "--expect" in rest[-1]


def test_verify_names_what_differs(tiny: Make) -> None:
    bundle = tiny()
    (bundle / "answers.jsonl").unlink()
    (bundle / "added").touch()
    result = called("verify", bundle, "--json")
    found = facts(result, "verify")
    assert result.return_value == 3 and not found["complete"] and found["valid"]
    assert {(problem["kind"], problem["path"]) for problem in found["problems"]} == {
        ("missing", "answers.jsonl"),
        ("added", "added"),
    }
    shown = called("verify", bundle)
    assert shown.return_value == 3 and "not complete, valid" in shown.stdout
    assert "`answers.jsonl` is missing" in shown.stdout


def test_verify_compares_with_a_pinned_digest(tiny: Make) -> None:
    bundle = tiny()
    digest = facts(called("verify", bundle, "--json"), "verify")["digest"]
    assert called("verify", bundle, "--expect", digest).return_value == 0
    assert called("verify", bundle, "--expect", f"sha256:{digest}").return_value == 0
    result = called("verify", bundle, "--expect", "0" * 64, "--json")
    found = facts(result, "verify")
    assert result.return_value == 3 and not found["valid"]
    assert found["problems"][0]["expected"] == "0" * 64 and found["problems"][0]["found"] == digest
    require_error(failed("verify", bundle, "--expect", digest[:10]), "E710", "is not a digest\n  help: use the 64 hex")


def test_verify_of_a_manifest_that_cannot_be_read(tiny: Make) -> None:
    bundle = tiny()
    (bundle / "manifest.json").write_bytes(b'{"k":NaN}')
    result = called("verify", bundle, "--json")
    assert result.return_value == 3 and facts(result, "verify")["problems"][0]["path"] == "manifest.json"


def test_show_a_bundle(tiny: Make) -> None:
    bundle = tiny()
    shown = called("show", bundle).stdout
    assert "Tiny sums" in shown and "2 templates, 2 items, 6 questions" in shown
    (row,) = [line for line in shown.splitlines() if line.startswith("sum_1 ")]
    assert row.split() == ["sum_1", "arithmetic", "easy", "2", "1", "3", "100"]
    found = json.loads(called("show", bundle, "--json").stdout)
    assert found["manifest"]["k"] == 3 and len(found["templates"]) == 2


@pytest.mark.parametrize("id", ["tiny/sum_1/2", "sum_1/2"])
def test_show_a_question(tiny: Make, id: str) -> None:
    shown = called("show", tiny(), id).stdout
    for part in (
        "tiny/sum_1/2",
        "What is 17 + 3? Ω",
        "[answer]\n20",
        '"product": "51"',
        '"a": 17',
        "Add them.",
    ):
        assert part in shown


def test_show_a_question_whose_answer_is_withheld(tiny: Make) -> None:
    assert "withheld" in called("show", tiny(sealed=True), "sum_0/0").stdout


def test_show_a_question_that_is_not_there(tiny: Make) -> None:
    error = failed("show", tiny(), "tiny/sum_0/7")
    assert error.exit_code == 2 and "did you mean `tiny/sum_0/" in (error.diagnostics[0].help or "")


def test_terminals_are_safe_from_prompts(tiny: Make, bundle_writer: Make, tmp_path: Path) -> None:
    opened = import_module("dia_runtime.bundle.open").open_bundle(tiny(templates=1, k=1))
    questions, answers = list(opened.questions()), list(opened.answers())
    questions[0]["messages"][0]["content"] = "\x1b]0;mine\x07 \u202e hidden \x9b"
    questions[0]["category"] = "\x1b[2J"
    bundle = bundle_writer(tmp_path / "hostile", questions, answers, 1)
    called("run", bundle, "--model", "oracle", "-o", "a.run")
    printed = called("show", bundle, "sum_0/0").stdout + called("show", bundle, "sum_0/0", "--json").stdout
    for form in ("text", "csv", "markdown"):
        printed += called("score", "a.run", "--format", form).stdout
    printed += called("score", "a.run", "--json").stdout
    assert not set("\x1b\x07\u202e\x9b") & set(printed)
    assert "\\x1b]0;mine" in printed


@pytest.mark.parametrize(
    ("name", "option", "bounds"),
    [
        ("calibrate", "--seed", "0 and up"),
        ("explain", "--seed", "0 and up"),
        ("place", "--draw", "0 and up"),
        ("calibrate", "--draws", "0 to 10,000"),
        ("calibrate", "--extreme-adjust", "0.01 to 0.5"),
    ],
)
def test_a_number_out_of_bounds_is_told_with_the_bounds(name: str, option: str, bounds: str) -> None:
    result = CliRunner().invoke(command(name), [option, "-1"])
    assert result.exit_code == 2 and option in result.output and f" is not in the range {bounds}." in result.output


def test_specs_are_to_be_compiled_first(tmp_path: Path) -> None:
    specs = tmp_path / "specs"
    specs.mkdir()
    (specs / "benchmark.yaml").write_text("language: 2\nbenchmark: b\n")
    for place in (specs, tmp_path, specs / "benchmark.yaml"):
        [entry] = failed("run", place, "--model", "oracle").diagnostics
        assert entry.code == "E701" and entry.message == f"`{place}` contains specs, not a bundle"
        assert f"compile it first: `dia compile {place}`" in str(entry.help)


def test_what_is_no_bundle_and_what_is_no_run_is_told_alike(tmp_path: Path, tiny: Make) -> None:
    folder, missing = tmp_path / "empty", tmp_path / "missing"
    folder.mkdir()
    for name, rest, code in (("run", ("--model", "oracle"), "E701"), ("score", (), "E801")):
        [entry] = failed(name, missing, *rest).diagnostics
        assert (entry.code, entry.message) == (code, f"`{missing}` does not exist")
    [entry] = failed("score", folder).diagnostics
    assert (entry.code, entry.message) == ("E801", f"`{folder}` is a folder, not a run")
    bundle = tiny()
    [entry] = failed("score", bundle).diagnostics
    assert (entry.code, entry.message) == ("E801", f"`{bundle}` is a bundle, not a run")
    assert f"dia run {bundle} --model NAME" in str(entry.help)
    [entry] = failed("run", bundle.parent, "--model", "oracle").diagnostics
    assert (entry.code, entry.help) == ("E701", f"did you mean `{bundle}`?")
    called("run", bundle, "--model", "oracle", "-o", "a.run")
    [entry] = failed("run", "a.run", "--model", "oracle").diagnostics
    assert (entry.code, entry.message) == ("E701", "`a.run` is a file, not the folder of a bundle")


@pytest.mark.parametrize("model", ["oracle", "abstain", "wrong", "guess"])
def test_a_baseline_with_nothing_to_ask_at_a_base_url_is_refused(
    tiny: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    monkeypatch.chdir(tmp_path)
    error = failed("run", tiny(), "--model", model, "--model", "says:4", "--base-url", "http://127.0.0.1:9/v1")
    assert error.exit_code == 2 and error.diagnostics[0].code == "E849"
    assert f"`openai/{model}`" in str(error.diagnostics[0].help) and not Path("build").exists()


@pytest.mark.parametrize("name", ["simulated:theta=1", "says:4", "command:cat"])
def test_what_is_not_asked_over_a_network_is_refused_at_a_base_url(
    tiny: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (entry,) = failed("run", tiny(), "--model", name, "--base-url", "http://127.0.0.1:9/v1").diagnostics
    assert entry.code == "E849" and f"`{name}`" in entry.message and entry.help == "remove `--base-url`"
    assert not Path("build").exists()


def test_a_baseline_beside_a_model_at_a_base_url_says_what_it_is(
    tiny: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from helpers import loopback as loop

    monkeypatch.chdir(tmp_path)
    with loop.serve(loop.says("<xml>8</xml>")) as server:
        models = ("--model", "oracle", "--model", "my-model", "--model", "openai/oracle")
        result = called("run", tiny(), *models, "--base-url", server.url)
    assert result.return_value == 0 and {request.body["model"] for request in server.asked} == {"my-model", "oracle"}
    assert "oracle is the baseline built into dia, not a model at --base-url\n" in result.stderr
    names = ["tiny-my-model.run", "tiny-openai-oracle.run", "tiny-oracle.run"]
    assert sorted(path.name for path in Path("build/runs").iterdir()) == names


def test_models_that_differ_in_a_hyphen_have_files_of_their_own(
    tiny: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    models = ("--model", "simulated:theta=-1", "--model", "simulated:theta=1")
    result = called("run", tiny(), *models)
    runs = Path("build/runs")
    assert result.stdout.split() == [f"{runs}/tiny-simulated-theta-{end}.run" for end in ("-1", "1")]
    names = [
        f"{name}+tools={tools}" if tools else name
        for name in ("openai/gpt-4o-mini", "a/b--c", "says:-1", "says:1", "says:--1")
        for tools in ("", "python")
    ]
    from dia_runtime.commands.run import file_name_part

    assert len({file_name_part(name) for name in names}) == len(names)


def test_a_run_under_the_name_that_older_versions_gave_it_is_continued(
    tiny: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    old, bundle = Path("build/runs/tiny-simulated-theta-1.run"), tiny()
    called("run", bundle, "--model", "simulated:theta=-1", "--limit", 2, "-o", old)
    result = called("run", bundle, "--model", "simulated:theta=-1")
    assert result.stdout.split() == [str(old)] and "2 of them already in the run" in result.stderr
    other = called("run", bundle, "--model", "simulated:theta=--1", "--json", "-q").exception
    assert isinstance(other, DiaError), "not a number"
    # The file of that name is only continued for a model that is in it.
    new = called("run", bundle, "--model", "says:-1")
    called("run", bundle, "--model", "says:1")
    assert new.stdout.split() == ["build/runs/tiny-says--1.run"]
    old.write_bytes(b"no run")
    assert called("run", bundle, "--model", "simulated:theta=-1").stdout.split() == [
        "build/runs/tiny-simulated-theta--1.run"
    ]


@pytest.fixture
def other_answers(tiny: Make, bundle_writer: Make, tmp_path: Path) -> Path:
    """A bundle with the questions of `tiny()`, whose answers are all one larger."""
    from dia_runtime.bundle.open import open_bundle

    opened = open_bundle(tiny("right"))
    answers = [
        {**record, "answer": record["answer"] + 1, "text": str(record["answer"] + 1)} for record in opened.answers()
    ]
    return bundle_writer(tmp_path / "other", list(opened.questions()), answers, 3)


@pytest.mark.parametrize("name", ["score", "audit", "report", "questions"])
def test_another_bundle_of_the_same_questions_is_refused_by_its_digest(
    tiny: Make, other_answers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    from dia_runtime.bundle.open import open_bundle

    monkeypatch.chdir(tmp_path)
    bundle = tiny()
    called("run", bundle, "--model", "oracle", "-o", "a.run")
    more = ("-o", "page.html") if name == "report" else ()
    error = failed(name, "a.run", "--bundle", other_answers, *more)
    (diagnostic,) = error.diagnostics
    assert error.exit_code == 3 and diagnostic.code == "E802" and not Path("page.html").exists()
    assert all(open_bundle(path).id in diagnostic.message for path in (bundle, other_answers))
    assert called(name, "a.run", "--bundle", bundle, *more).return_value == 0
    assert called(name, "a.run", "--bundle", tiny("sealed", sealed=True), *more).return_value == 0


def test_a_run_without_answers_takes_them_from_any_bundle_of_its_questions(
    tiny: Make, other_answers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    called("run", tiny("sealed", sealed=True), "--model", "says:<xml>8</xml>", "-o", "a.run")
    counts = [
        json.loads(called("score", "a.run", "--bundle", bundle, "--json").stdout)["models"][0]["counts"]["correct"]
        for bundle in (tiny(), other_answers)
    ]
    assert counts == [1, 0]


def test_show_prints_the_verdict_on_each_reply(tiny: Make) -> None:
    assert (
        called(
            "run", tiny(), "--model", "oracle", "--model", "abstain", "--model", "says:42", "-o", "a.run"
        ).return_value
        == 0
    )
    shown = called("show", "a.run", "sum_0/1").stdout
    right = facts(called("show", "a.run", "sum_0/1", "--json"), "show")["replies"]
    assert [reply["verdict"] for reply in right] == ["correct", "skipped", "unparsed"]
    correct = right[0]["extracted"]
    assert [reply["correct_answer"] for reply in right] == [correct] * 3
    assert "[correct]" in shown
    assert f"[skipped: answer {right[1]['extracted']}; correct answer {correct}]" in shown
    assert f"[unparsed: no answer found; correct answer {correct}]" in shown


def test_show_says_how_to_add_a_missing_reply(tiny: Make) -> None:
    assert called("run", tiny(), "--model", "says:42", "--limit", "1", "-o", "a.run").return_value == 0
    why = "no reply yet: `dia run` with the same bundle, model and settings asks for it"
    assert called("show", "a.run", "sum_0/1").stdout == f"tiny/sum_0/1\n\n[says:42]\n{why}\n"
    missing = facts(called("show", "a.run", "sum_0/1", "--json"), "show")
    assert missing["missing"] == [{"respondent": "says:42", "why": why}] and missing["replies"] == []
    assert facts(called("show", "a.run", "sum_0/0", "--json"), "show")["missing"] == []


def test_show_prints_no_verdict_if_the_run_has_no_answers(tiny: Make) -> None:
    assert called("run", tiny(sealed=True), "--model", "says:42", "-o", "a.run").return_value == 0
    shown = called("show", "a.run", "sum_0/1").stdout
    assert shown == "tiny/sum_0/1\n\n[says:42]\n42\n"


@pytest.mark.parametrize("format", ["text", "csv", "markdown", "latex"])
def test_a_model_that_was_asked_no_sessions_is_left_out_of_their_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    from dia_compiler.pipeline.api import compile

    monkeypatch.chdir(tmp_path)
    Path("specs").mkdir()
    Path("specs/benchmark.yaml").write_text("language: 2\nbenchmark: mixed\n")
    Path("specs/sum.yaml").write_text(
        "template: sum\ntitle: Sum\nparams: {a: {type: integer, min: 1, max: 99}}\n"
        "answer: {value: a + 1, type: integer}\nprompt: What is {{ a }} + 1?\n"
    )
    Path("specs/talk.yaml").write_text(
        "template: talk\ntitle: Talk\nparams: {a: {type: integer, min: 1, max: 99}}\n"
        'sessions: {ask: {turns: [{user: "Is {{ a }} even? {{ format_instruction }}", '
        "reply: {name: even, format: label, of: ['YES', 'NO']}}]}}\ngrade: {correct: even == 'YES'}\n"
    )
    bundle = compile([Path("specs")], k=3, out="out", jobs=1).bundles[0].path
    called("run", bundle, "--model", "oracle", "-o", "base.run")
    called("run", bundle, "--model", "says:YES", "-o", "talk.run")
    printed = called("score", "talk.run", "base.run", "--tables", "all", "--format", format).stdout
    tables_of_sessions = printed[printed.index("unread") :]  # the first one with the outcomes of conversations
    assert "oracle" in printed and "says:YES" in tables_of_sessions and "oracle" not in tables_of_sessions
