"""Attachments: what leaves for each provider, what is not asked, and what a client library loses."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import sqlite3
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from dia_runtime.bundle.open import open_bundle
from dia_runtime.commands.score import notes_on_gaps
from dia_runtime.respondents import attachments
from dia_runtime.respondents.attachments import INTERFACES, interface_of, lost_parts, reason_undeliverable
from dia_runtime.respondents.chat import Settings, chat_messages
from dia_runtime.respondents.registry import ModelOptions
from dia_runtime.running.run import RespondentSummary, RunOptions, run
from dia_runtime.scoring.score import score
from dia_runtime.store.merge import merge_runs
from dia_runtime.store.store import read_store
from helpers import loopback as loop
from helpers import provider_schemas as schemas
from helpers import schemas as published
from helpers.provider_schemas import is_strict
from hypothesis import given
from hypothesis import strategies as st

Make = Callable[..., Path]
CONTENTS = {
    "picture.png": ("image/png", b"\x89PNG\r\n\x1a\n picture"),
    "sound.wav": ("audio/wav", b"RIFF\x24\x00\x00\x00WAVE sound"),
    "song.mp3": ("audio/mpeg", b"ID3\x04 song"),
    "voice.flac": ("audio/flac", b"fLaC voice"),
    "photo.jpg": ("image/jpeg", b"\xff\xd8\xff photo"),
    "paper.pdf": ("application/pdf", b"%PDF-1.7 paper"),
    "locked.zip": ("application/zip", b"PK\x03\x04 locked"),
    "notes.txt": ("text/plain; charset=utf-8", "Größe: 12".encode()),
}
MODELS = {"openai": "openai/gpt-4o", "anthropic": "anthropic/claude-sonnet-4-5", "gemini": "gemini/gemini-2.5-flash"}
NEEDS_LITELLM = pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed")
Files = Mapping[str, tuple[str, bytes]]


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder and a key of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789abcdef")


@pytest.fixture
def with_files(tiny: Make, bundle_writer: Make, tmp_path: Path) -> Make:
    """Makes a bundle with a question for each list of names of files; the first without any.

    With `variant`, each question also has a variant of this name.
    """

    def make(
        *questions: list[str],
        name: str = "bundle",
        files: Files = CONTENTS,
        deliver: str = "attach",
        variant: str | None = None,
    ) -> Path:
        opened = open_bundle(tiny(f"{name}-plain", templates=1, k=len(questions)))
        folder, records = tmp_path / name, []
        (folder / "assets").mkdir(parents=True)
        for question, wanted in zip(opened.questions(), questions, strict=True):
            assets = []
            for file in wanted:
                media_type, content = files[file]
                digest = hashlib.sha256(content).hexdigest()
                path = f"assets/{digest}.{file.rpartition('.')[2]}"
                (folder / path).write_bytes(content)
                entry = {"name": file, "path": path, "sha256": digest, "size": len(content)}
                assets.append({**entry, "media_type": media_type, "deliver": deliver})
            records.append({**question, "assets": assets})
        answers = list(opened.answers())
        if variant is not None:
            records += [{**record, "id": f"{record['id']}/{variant}", "variant": variant} for record in records]
            answers += [{**answer, "id": f"{answer['id']}/{variant}"} for answer in answers]
        return bundle_writer(folder, records, answers, len(questions))

    return make


def options(server: loop.Server, through: str = "litellm", **given: Any) -> RunOptions:
    given = {"concurrency": 1, "retries": 0, **given}
    wanted = {name: given.pop(name) for name in list(given) if name in ModelOptions.__dataclass_fields__}
    return RunOptions(ModelOptions(base_url=server.url, through=through, **wanted), **given)


def asked(bundle: Path, terms: RunOptions, model: str, path: str = "a.run") -> RespondentSummary:
    (entry,) = run(bundle, model, path, terms=terms).respondents
    return entry


def errors(path: str = "a.run") -> list[str]:
    with sqlite3.connect(path) as connection:
        found = connection.execute("SELECT error FROM reply WHERE error IS NOT NULL ORDER BY question").fetchall()
    connection.close()
    return [error for (error,) in found]


def expected_part(provider: str, name: str) -> Any:
    """An attachment as the documentation of the provider shows it."""
    media_type, content = CONTENTS[name]
    data = base64.b64encode(content).decode()
    if name == "notes.txt":
        text = f"{name}:\n{content.decode()}"
        return {"text": text} if provider == "gemini" else {"type": "text", "text": text}
    if provider == "gemini":
        media_type = "audio/mp3" if name == "song.mp3" else media_type
        return {"inline_data": {"mime_type": media_type, "data": data}}
    if provider == "anthropic":
        kind = "image" if media_type.startswith("image/") else "document"
        return {"type": kind, "source": {"type": "base64", "media_type": media_type, "data": data}}
    return {
        "picture.png": {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
        "photo.jpg": {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{data}"}},
        "sound.wav": {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}},
        "song.mp3": {"type": "input_audio", "input_audio": {"data": data, "format": "mp3"}},
        "paper.pdf": {
            "type": "file",
            "file": {"filename": name, "file_data": f"data:application/pdf;base64,{data}"},
        },
    }[name]


DELIVERED = {
    "openai": {"picture.png", "photo.jpg", "sound.wav", "song.mp3", "paper.pdf", "notes.txt"},
    "anthropic": {"picture.png", "photo.jpg", "paper.pdf", "notes.txt"},
    "gemini": {"picture.png", "photo.jpg", "sound.wav", "song.mp3", "voice.flac", "paper.pdf", "notes.txt"},
}
ROUTES = [
    pytest.param("openai", "auto", id="openai, directly"),
    *(pytest.param(name, "litellm", id=f"{name}, litellm", marks=NEEDS_LITELLM) for name in MODELS),
]


@pytest.mark.parametrize(("provider", "through"), ROUTES)
def test_every_part_leaves_as_the_provider_documents_it(with_files: Make, provider: str, through: str) -> None:
    bundle = with_files([], *([name] for name in CONTENTS))
    with loop.serve(is_strict()) as server:
        entry = asked(bundle, options(server, through), MODELS[provider])
        bodies = [request.body for request in server.asked]
    delivered = [name for name in CONTENTS if name in DELIVERED[provider]]
    assert (entry.asked, entry.errors, sum(entry.left_out.values())) == (
        1 + len(delivered),
        0,
        len(CONTENTS) - len(delivered),
    )
    assert [schemas.schema_faults(provider, body) for body in bodies] == [[]] * (1 + len(delivered))
    for instance, name in enumerate(CONTENTS, 2):
        prompt = f"What is 7 + {instance}? Ω"
        text = {"text": prompt} if provider == "gemini" else {"type": "text", "text": prompt}
        sent = [schemas.parts_of(provider, body) for body in bodies if prompt in json.dumps(body, ensure_ascii=False)]
        assert sent == ([[text, expected_part(provider, name)]] if name in delivered else [])


@pytest.mark.parametrize("through", ["auto", pytest.param("litellm", marks=NEEDS_LITELLM)])
def test_several_attachments_leave_in_their_order(with_files: Make, through: str) -> None:
    names = ["notes.txt", "picture.png", "paper.pdf", "picture.png"]
    with loop.serve(is_strict()) as server:
        entry = asked(with_files(names), options(server, through), "openai/gpt-4o")
    (request,) = server.asked
    assert entry.errors == 0
    assert schemas.parts_of("openai", request.body)[1:] == [expected_part("openai", name) for name in names]


@NEEDS_LITELLM
def test_a_part_that_litellm_removes_makes_the_reply_an_error(with_files: Make) -> None:
    bundle = with_files([], ["sound.wav"], ["picture.png"], ["sound.wav", "picture.png"])
    with loop.serve(is_strict()) as server:
        entry = asked(bundle, options(server, attachments="send"), MODELS["anthropic"])
        assert len(server.asked) == 3, "a second question with a sound is not sent"
        lost = "RIFF" not in json.dumps(server.asked[1].body)
    assert lost and (entry.asked, entry.errors, entry.left_out) == (4, 2, {})
    assert errors() == ["request: litellm removed parts of the request to anthropic: audio/wav"] * 2
    (model,) = score("a.run")["models"]
    assert model["counts"]["error"] == 2 and sum(model["counts"].values()) == 4, "neither of the two is graded"


@NEEDS_LITELLM
def test_a_body_that_litellm_does_not_show_makes_the_reply_an_error(
    with_files: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    import litellm

    seen: list[dict[str, Any]] = []

    async def answers(**body: Any) -> Any:
        seen.append(body)
        return litellm.ModelResponse(choices=[{"message": {"content": "<xml>8</xml>"}, "finish_reason": "stop"}])

    monkeypatch.setattr(litellm, "acompletion", answers)
    with loop.serve(is_strict()) as server:
        entry = asked(with_files([], ["picture.png"], ["picture.png"]), options(server), "openai/m")
    assert (entry.asked, entry.errors, len(seen)) == (3, 2, 2) and all("does not show" in error for error in errors())


@NEEDS_LITELLM
def test_what_a_provider_refuses_is_an_error_of_its_question(with_files: Make) -> None:
    with loop.serve(is_strict()) as server:
        entry = asked(with_files(["locked.zip"], []), options(server, attachments="send"), MODELS["anthropic"])
    assert (entry.asked, entry.errors) == (2, 1) and errors()[0].startswith("request: ")


# Not asked


def test_questions_that_were_not_asked_are_counted_without_their_variants(with_files: Make) -> None:
    bundle = with_files([], ["locked.zip"], ["locked.zip"], variant="short")
    with loop.serve(is_strict()) as server:
        entry = asked(bundle, options(server, "auto"), "openai/m")
    assert list(entry.left_out.values()) == [4]
    result = score("a.run")
    (model,) = result["models"]
    assert [reason["questions"] for reason in model["left_out"]] == [2] and model["missing"] == 2
    (note,) = notes_on_gaps(result)
    assert note.startswith("openai/m: 2 questions not asked (not counting variants), which no figure counts: ")


def test_what_cannot_be_sent_is_outside_of_every_denominator(with_files: Make) -> None:
    bundle = with_files([], ["locked.zip"], ["locked.zip"], ["picture.png"])
    why = "the OpenAI-compatible interface does not accept attachments of type application/zip"
    told: list[Any] = []
    with loop.serve(is_strict()) as server:
        terms = options(
            server, "auto", on_left_out=lambda name, reasons: told.append((name, dict(reasons), server.most))
        )
        entry = asked(bundle, terms, "openai/m")
        again = asked(bundle, terms, "openai/m")
    assert (entry.asked, entry.errors, entry.left_out, entry.requests) == (2, 0, {why: 2}, 2)
    assert (again.asked, again.kept, again.left_out, again.requests) == (0, 2, {why: 2}, 0)
    assert told[0] == ("openai/m", {why: 2}, 0), "before the first request"
    result = score("a.run")
    (model,) = result["models"]
    assert model["left_out"] == [{"why": why, "questions": 2}] and model["missing"] == 2
    assert sum(model["counts"].values()) == 2 and not published.faults("score", json.loads(json.dumps(result)))
    (strict,) = score("a.run", errors="wrong")["models"]
    assert sum(strict["counts"].values()) == 2 and strict["counts"]["error"] == 0
    with read_store("a.run") as store:
        assert [id for id, _ in store.left_out(1)] == ["tiny/sum_0/1", "tiny/sum_0/2"]


def test_progress_ends_at_its_total(with_files: Make) -> None:
    steps: list[Any] = []
    with loop.serve(is_strict()) as server:
        bundle = with_files([], ["locked.zip"], ["picture.png"], ["locked.zip"])
        run(bundle, "openai/m", "a.run", attempts=2, on_progress=steps.append, terms=options(server, "auto"))
        assert (steps[-1].done, steps[-1].total) == (4, 4)
        run(with_files(["locked.zip"], name="all"), "openai/m", "b.run", terms=options(server, "auto"))
    assert len(server.asked) == 4 and score("b.run")["models"][0]["missing"] == 1


def test_attempts_count_a_question_once(with_files: Make) -> None:
    with loop.serve(is_strict()) as server:
        summary = run(with_files([], ["locked.zip"]), "openai/m", "a.run", attempts=3, terms=options(server, "auto"))
    assert list(summary.respondents[0].left_out.values()) == [1] and len(server.asked) == 3


def test_errors_of_questions_that_can_no_longer_be_asked_are_dropped(with_files: Make) -> None:
    bundle = with_files([], ["locked.zip"])
    with loop.serve(is_strict()) as server:
        first = asked(bundle, options(server, "auto", attachments="send"), "openai/m")
        assert first.errors == 1 and len(errors()) == 1
        then = asked(bundle, options(server, "auto"), "openai/m")
        assert then.errors == 0 and errors() == [] and sum(then.left_out.values()) == 1
    with loop.serve(loop.says("<xml>9</xml>")) as server:
        last = asked(bundle, options(server, "auto", attachments="send"), "openai/m", "b.run")
        again = asked(bundle, options(server, "auto"), "openai/m", "b.run")
    assert (last.asked, last.left_out, again.kept, again.left_out) == (2, {}, 2, {}), "a reply that is there is kept"
    assert score("b.run")["models"][0]["left_out"] == []


def test_merging_keeps_reasons_unless_another_run_has_the_reply(with_files: Make) -> None:
    bundle = with_files([], ["locked.zip"], ["locked.zip"])
    with loop.serve(loop.says()) as server:
        asked(bundle, options(server, "auto"), "openai/m", "a.run")
        asked(bundle, options(server, "auto", attachments="send", part=(2, 3)), "openai/m", "b.run")
        # Another port would be another endpoint, and so another respondent.
    merge_runs(["a.run", "b.run"], "both.run")
    with read_store("both.run") as store:
        assert [id for id, _ in store.left_out(1)] == ["tiny/sum_0/2"]


def test_a_replay_leaves_out_what_was_not_asked(with_files: Make) -> None:
    bundle = with_files([], ["locked.zip"], ["picture.png"])
    with loop.serve(is_strict()) as server:
        asked(bundle, options(server, "auto"), "openai/m")
    (entry,) = run(bundle, "replay:a.run", "b.run").respondents
    assert (entry.asked, entry.errors, sum(entry.left_out.values())) == (2, 0, 1)
    (first,), (second,) = score("a.run")["models"], score("b.run")["models"]
    assert first["left_out"] == second["left_out"] != [] and first["counts"] == second["counts"]


def test_files_for_tools_are_not_asked_without_tools(with_files: Make) -> None:
    with loop.serve(is_strict()) as server:
        entry = asked(
            with_files(["notes.txt"], [], deliver="file"), options(server, "auto", attachments="send"), "openai/m"
        )
    assert (entry.asked, entry.errors, entry.left_out) == (
        1, 0, {"the question has files for a model with tools that can read them": 1},
    )  # fmt: skip


def called(name: str, *arguments: object) -> Result:
    module = import_module(f"dia_runtime.commands.{name}")
    return CliRunner().invoke(module.command, list(map(str, arguments)), standalone_mode=False)


def test_screens_say_what_was_not_asked(with_files: Make) -> None:
    bundle = with_files([], ["locked.zip"], ["locked.zip"])
    why = "the OpenAI-compatible interface does not accept attachments of type application/zip"
    with loop.serve(is_strict()) as server:
        asking = ("--model", "openai/m", "--base-url", server.url, "-o", "a.run")
        result = called("run", bundle, *asking)
        as_json = called("run", bundle, *asking, "--json", "-q")
    assert result.return_value == 0 and result.stderr.splitlines()[1:] == [
        f"openai/m: 2 questions not asked: {why}",
        "openai/m: 1 of 3 replies, 2 questions not asked",
    ]
    record = json.loads(as_json.stdout)
    assert record["runs"][0]["left_out"] == [{"why": why, "questions": 2}] and "asked" not in as_json.stderr
    screen = " ".join(called("score", "a.run").stdout.split())
    assert f"never asked, which no figure counts: openai/m (2). Reason for openai/m: {why}." in screen
    assert called("score", "a.run").stdout.splitlines()[2].split()[-2:] == ["not", "asked"]
    for form in ("csv", "markdown"):
        scored = called("score", "a.run", "--format", form)
        noted = f"note: openai/m: 2 questions not asked, which no figure counts: {why}\n"
        assert noted in scored.stderr and "never" not in scored.stderr
        ends = [line.strip("| ").replace(" | ", ",").split(",")[-1] for line in scored.stdout.splitlines()]
        assert [end for end in ends[ends.index("not asked") :] if end != "---:"][:2] == ["not asked", "2"]
    called("report", "a.run", "-o", "r.html")
    page = Path("r.html").read_text()
    assert f"never asked, which no figure counts: openai/m (2). Reason for openai/m: {why}." in page
    shown = called("show", "a.run", "--json")
    assert json.loads(shown.stdout)["respondents"][0]["left_out"] == [{"why": why, "questions": 2}]
    assert not published.faults("show", json.loads(shown.stdout))
    assert f"    2 questions not asked: {why}\n" in called("show", "a.run").stdout
    one = called("show", "a.run", "sum_0/1", "--json")
    assert json.loads(one.stdout)["left_out"] == [{"respondent": "openai/m", "why": why}]
    assert not published.faults("show", json.loads(one.stdout))
    assert called("show", "a.run", "sum_0/1").stdout == f"tiny/sum_0/1\n\n[openai/m]\nnot asked: {why}\n"


def test_on_a_terminal_the_reasons_are_above_the_progress_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    from dia_runtime.commands.progress_bars import progress_bars
    from dia_runtime.commands.run import note_left_out

    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    content = io.BytesIO()
    screen = Terminal(content, encoding="utf-8", write_through=True)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bars(["openai/m"]):
        note_left_out("openai/m", {"the reason": 2})
    lines = content.getvalue().decode().replace("\r", "").split("\n")
    assert "\x1b[2Kopenai/m: 2 questions not asked: the reason" in lines[0], "the bar is erased before"


def test_a_score_without_gaps_has_no_column_for_them(with_files: Make) -> None:
    with loop.serve(is_strict()) as server:
        asked(with_files([], ["picture.png"]), options(server, "auto"), "openai/m")
    assert all("not asked" not in called("score", "a.run", "--format", form).output for form in ("text", "csv"))


def test_no_figure_and_no_estimate_counts_what_was_not_asked(with_files: Make) -> None:
    """A run with questions that cannot be asked has the figures of one without them."""
    from dia_runtime.psychometrics.boundary.placing import place_recorded
    from dia_runtime.psychometrics.panel import read_panel
    from dia_runtime.psychometrics.rasch.bank import Bank, BankItem
    from dia_runtime.scoring.figures import FIGURES

    files = [[], ["locked.zip"], ["picture.png"], ["locked.zip"], [], ["paper.pdf"], [], ["locked.zip"]]
    bundle = with_files(*files)
    with loop.serve(loop.says("<xml>9</xml>")) as server:
        asked(bundle, options(server, "auto"), "openai/m", "a.run")
        asked(bundle, options(server, "auto", attachments="send"), "openai/m", "b.run")
    with sqlite3.connect("b.run") as connection:  # as if there had never been such questions
        connection.execute("DELETE FROM reply WHERE question IN (1, 3, 7)")
    connection.close()
    (of_gaps,), (of_others,) = score("a.run")["models"], score("b.run")["models"]
    assert of_gaps["missing"] == of_others["missing"] == 3 and of_gaps["counts"] == of_others["counts"]
    assert {name: of_gaps.get(name) for name in FIGURES} == {name: of_others.get(name) for name in FIGURES}
    assert of_gaps["left_out"] and not of_others["left_out"]
    run(bundle, "oracle", "o.run")
    panels = [read_panel([Path(path), Path("o.run")]) for path in ("a.run", "b.run")]
    assert (
        panels[0].items == panels[1].items
        and (panels[0].trials == panels[1].trials).all()
        and panels[0].trials[0].sum() == 5
    )
    bank = Bank(
        tuple(BankItem(f"tiny/sum_0/{at}", at / 4 - 1) for at in range(8)), (), "mml_items", "mean_difficulty",
        unit="instances",
    )  # fmt: skip
    placed = [next(place_recorded(bank, [Path(path)])) for path in ("a.run", "b.run")]
    assert placed[0] == placed[1] and len(placed[0].steps) == 5 and placed[0].lost == 0


def test_a_placement_passes_over_what_cannot_be_asked(with_files: Make) -> None:
    from dia_runtime.psychometrics.boundary.placement import StoppingRule
    from dia_runtime.psychometrics.boundary.placing import PlacementOptions, place
    from dia_runtime.psychometrics.rasch.bank import Bank, BankItem

    bank = Bank(
        tuple(BankItem(f"tiny/sum_0/{at}", at / 4 - 1) for at in range(6)), (), "mml_items", "mean_difficulty",
        unit="instances",
    )  # fmt: skip
    bundle = with_files([], ["locked.zip"], [], ["locked.zip"], [], [])
    goal = PlacementOptions(StoppingRule(se=0.01))
    with loop.serve(loop.says("<xml>9</xml>")) as server:
        (placed,), summary = place(bank, bundle, "openai/m", Path("p.run"), goal, options(server, "auto"))
    assert (len(placed.steps), placed.lost, len(server.asked)) == (4, 2, 4)
    assert sum(summary.respondents[0].left_out.values()) == 2


def test_a_run_of_which_nothing_could_be_asked_can_be_looked_at(with_files: Make) -> None:
    with loop.serve(is_strict()) as server:
        entry = asked(with_files(["locked.zip"], ["locked.zip"]), options(server, "auto"), "openai/m")
    assert (entry.asked, entry.errors, server.asked) == (0, 0, [])
    assert "openai/m - - - - - - - - 2" in " ".join(called("score", "a.run").stdout.split())
    for form in ("csv", "markdown", "latex"):
        assert called("score", "a.run", "--format", form).return_value == 0
    assert called("report", "a.run", "-o", "r.html").return_value == 0
    assert "never asked, which no figure counts: openai/m (2)." in Path("r.html").read_text()


# The rules


def given_asset(media_type: str, deliver: str = "attach") -> dict[str, Any]:
    return {"name": "x", "path": "assets/x", "media_type": media_type, "deliver": deliver}


@pytest.mark.parametrize(
    ("provider", "accepted", "refused"),
    [
        ("openai", ["image/gif", "audio/mpeg", "application/pdf"], ["image/svg+xml", "audio/ogg", "application/zip"]),
        ("anthropic", ["image/webp", "application/pdf"], ["image/bmp", "audio/wav", "video/mp4"]),
        ("gemini", ["audio/flac", "image/heic"], ["image/gif", "application/zip"]),
        ("groq", ["image/png"], ["application/pdf", "audio/wav"]),
        ("bedrock", ["image/webp", "application/msword"], ["audio/wav", "application/zip"]),
    ],
)
def test_the_table_decides_by_media_type(provider: str, accepted: list[str], refused: list[str]) -> None:
    for media_type in (*accepted, *refused):
        why = reason_undeliverable(given_asset(media_type), INTERFACES[provider], lambda _: None, lambda _: b"\xff")
        assert (why is None) == (media_type in accepted) and (why is None or media_type in why)


def test_text_is_sent_to_every_model_but_bytes_that_are_not_text_are_not() -> None:
    for media_type in ("text/plain; charset=utf-8", "text/csv", "application/json", "message/http"):
        asset = given_asset(media_type)
        assert reason_undeliverable(asset, INTERFACES["groq"], lambda _: None, lambda _: b"a,b") is None
        assert reason_undeliverable(asset, INTERFACES["groq"], lambda _: None, lambda _: b"\xff") is not None


def test_models_that_lack_a_capability_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {
        "gpt-text": {"litellm_provider": "openai"},
        "gpt-sees": {"litellm_provider": "openai", "supports_vision": True},
        "groq/blind": {"litellm_provider": "groq", "supports_vision": False},
        "groq/unknown": {"litellm_provider": "groq"},
        "m": {"litellm_provider": "bedrock", "supports_vision": False},
    }
    monkeypatch.setattr(attachments, "price_table", lambda: table)
    known = {
        "openai/gpt-text": False, "openai/gpt-sees": True, "openai/gpt-new": None, "openai/ft:gpt-text": None,
        "groq/blind": False, "groq/unknown": None, "groq/m": None,
    }  # fmt: skip
    for model, value in known.items():
        is_listed = INTERFACES[model.partition("/")[0]].is_listed
        assert attachments.listed_capability(model, "vision", is_listed) is value, model


@NEEDS_LITELLM
@pytest.mark.parametrize(
    ("model", "media_type", "is_sent"),
    [
        ("openai/gpt-4o", "image/png", True),
        ("openai/gpt-4o", "audio/wav", False),
        ("openai/gpt-audio", "audio/wav", True),
        ("openai/gpt-3.5-turbo", "image/png", False),
        ("openai/gpt-9-not-yet-known", "audio/wav", True),
        ("anthropic/claude-sonnet-4-5", "audio/wav", False),
        ("anthropic/claude-sonnet-4-5", "application/pdf", True),
        ("gemini/gemini-2.5-flash", "audio/wav", True),
        ("vertex_ai/gemini-2.5-flash", "application/zip", False),
        ("bedrock/unknown.model", "application/zip", False),
        ("cohere/unknown-model", "application/zip", True),
    ],
)
def test_litellm_knows_what_models_can_do(model: str, media_type: str, is_sent: bool) -> None:
    from dia_runtime.respondents.litellm_client import LiteLLMClient

    client = LiteLLMClient(model, model, Settings(), ModelOptions(read=lambda _: b"x"))
    assert (client.undeliverable(given_asset(media_type)) is None) is is_sent


def test_every_row_names_its_sources() -> None:
    assert interface_of("cohere/x") is None and interface_of("openai/gpt").title == "OpenAI"  # type: ignore[union-attr]
    for interface in INTERFACES.values():
        assert interface.sources and all(url.startswith("https://") for url in interface.sources)
        assert all("/" in media_type for media_type in interface.media_types)


# What is lost


FILES = st.lists(st.sampled_from(sorted(CONTENTS)), min_size=1, max_size=4)


@given(FILES, st.data())
def test_every_lost_part_is_found_and_no_other(names: list[str], data: st.DataObject) -> None:
    question = {
        "messages": [{"role": "user", "content": "What is shown?"}],
        "assets": [given_asset(CONTENTS[name][0]) | {"name": name, "path": name} for name in names],
    }
    messages = chat_messages(question, Settings(), lambda name: CONTENTS[name][1])
    parts = messages[0]["content"]
    kept = [data.draw(st.booleans()) for _ in parts]
    sent = [part for part, is_kept in zip(parts, kept, strict=True) if is_kept]
    others = [part for part, is_kept in zip(parts, kept, strict=True) if not is_kept]
    bodies = [{"any": {"form": [{"x": _content(part)} for part in sent]}}]
    bodies.append(json.dumps(bodies[0]))  # type: ignore[arg-type]
    for body in bodies:
        lost = lost_parts(messages, body)
        assert bool(lost) == bool(others) and set(lost) == {_label(part) for part in others}


def _content(part: Mapping[str, Any]) -> str:
    if part["type"] == "text":
        return str(part["text"])
    held = part.get("image_url", part.get("input_audio", part.get("file")))
    return str(held.get("url") or held.get("data") or held["file_data"])


def _label(part: Mapping[str, Any]) -> str:
    return "text" if part["type"] == "text" else attachments.part_type(part)
