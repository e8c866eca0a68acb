"""The recordings of the Self-Execution Benchmark, as runs of session questions.

A folder contains `exp1/MODEL.jsonl[.gz]` to `exp4/`, with one row per target word, prompt, group of questions or model.
Each row becomes the transcript of a question whose truth is that of the shipped templates (association, restriction,
difficulty, self_made). If a recording has a value but no text, the transcript contains the value as `extracted`; for a
question without a row, all replies are missing. Besides the rows, these are read if they exist:
`exp1_taboo_options.json` (target -> options), `exp3_groups.jsonl[.gz]`, and from `expected.json` the number of prompts
that the study counted as failures of experiment 2, which its rows do not contain.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_language.numbers.values import Record, encode
from dia_runtime.bundle.canonical import canonical_line, compact_json
from dia_runtime.bundle.input_errors import input_error, unreadable_file
from dia_runtime.bundle.merkle import MerkleTree, leaf_hash
from dia_runtime.integrations.importing.tables import ENDINGS, Imported, publishing
from dia_runtime.integrations.reading import json_lines
from dia_runtime.integrations.self_execution.published_truths import TRUTHS
from dia_runtime.respondents.respondent import Reply
from dia_runtime.store.schema import StoredQuestion
from dia_runtime.store.store import Store, open_store
from dia_runtime.store.transcripts import TranscriptReply, TranscriptSession, transcript_text

Row: TypeAlias = Mapping[str, Any]
BENCHMARK = "self_execution"
PROMPTS = 450  # of XSTest (https://arxiv.org/abs/2308.01263), all of which are used in experiment 2
MISSING = {"kind": "missing", "message": "the log has no record of it"}
CHOICES = ("A", "B")  # whether it answers
POINTS = {"correct": 1, "skipped": 0, "wrong": 0}
FORMAT = {"kind": "sessions"}


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a recording: its name, what its truth needs, and its labels."""

    template: str
    item: str
    names: Mapping[str, Any]
    category: str = "self-prediction"

    @property
    def id(self) -> str:
        """Return its name in the run."""
        return f"{BENCHMARK}/{self.template}/{self.item}/0"

    def grading(self) -> dict[str, Any]:
        """Return the record by which its transcripts are graded."""
        record: dict[str, Any] = {
            "answer": None,
            "text": "",
            "comparison": {"type": "sessions"},
            "accept": [],
            "mistakes": {},
        }
        return {**record, **TRUTHS[self.template](self.names)}


@dataclass(frozen=True, slots=True)
class Experiment:
    """How the recordings of an experiment are read: its questions, the key of a row, and a row's transcript.

    `lost` makes the transcripts of questions without a row, with what the study counted as failures.
    """

    questions: Callable[[Path, Sequence[Row]], list[Question]]
    key: Callable[[Row], str]
    transcript: Callable[[Row], str]
    lost: Callable[[Sequence[str], Mapping[str, Any]], Iterator[str]]


def import_recordings(folder: Path, names: Sequence[str], out: Path, force: bool = False) -> Imported:
    """Import the experiments as the run `out`, which only appears when complete, and return what was imported.

    Raises DiaError (exit 2) for a folder without any of the experiments, or a malformed row.
    """
    rows_by_experiment = {name: _rows(folder, name) for name in names}
    if not any(rows_by_experiment.values()):
        help = "it must contain folders exp1 to exp4 with one file per model, such as exp1/o4-mini.jsonl.gz"
        raise DiaError(Diagnostic("E861", visible(f"`{folder}` has no recordings"), None, help))
    with publishing(out, force) as private:
        done = _run(folder, {name: rows for name, rows in rows_by_experiment.items() if rows}, private / "run")
    return Imported(out, *done)


def _rows(folder: Path, name: str) -> dict[str, list[Row]]:
    """Return the rows of an experiment by model, sorted by the models' names."""
    places = sorted((folder / name).glob("*.jsonl*")) if (folder / name).is_dir() else []
    return {ENDINGS.sub("", place.name): [_checked(name, place, row) for row in json_lines.rows(place)]
            for place in places}  # fmt: skip


def _checked(name: str, place: Path, row: Any) -> Row:
    """Return the cells of a row. Raises DiaError if one is missing."""
    if isinstance(row, DiaError):
        raise row
    try:
        EXPERIMENTS[name].transcript(row.cells)
    except (KeyError, TypeError, AttributeError, ValueError, IndexError):
        message = f"the row is not a recording of {name}"
        raise input_error(
            "E862", message, place, row.line, 1, "rows must have the fields of the published recordings"
        ) from None
    return dict(row.cells)


def _run(
    folder: Path, rows_by_experiment: Mapping[str, Mapping[str, list[Row]]], path: Path
) -> tuple[str, int, int, int, dict[str, int]]:
    questions = {
        name: EXPERIMENTS[name].questions(folder, [row for rows in by_model.values() for row in rows])
        for name, by_model in rows_by_experiment.items()
    }
    every = [question for experiment_questions in questions.values() for question in experiment_questions]
    root, leaves = _root(every)
    facts = {"bundle_id": None, "questions_root": root, "benchmark": BENCHMARK, "version": None, "k": 1}
    with closing(open_store(path, root)) as store:
        store.initialize({**facts, "points_told": False}, _stored(every, leaves))
        place = {question.id: at for at, question in enumerate(every)}
        failures = _failures(folder)
        counts: dict[str, int] = {}
        for name, by_model in rows_by_experiment.items():
            for model, rows in by_model.items():
                transcripts = _transcripts(name, questions[name], rows, failures.get(model, {}).get(name, {}))
                counts[model] = counts.get(model, 0) + _save(store, model, place, transcripts)
    return root, len(every), len(every), 1, counts


def _root(questions: Sequence[Question]) -> tuple[str, list[bytes]]:
    """Return the digest of these questions, and the leaf of each."""
    tree, leaves = MerkleTree(), []
    for question in questions:
        graded_by = {"id": question.id, "grading": question.grading(), "format": FORMAT, "points": POINTS}
        leaves.append(leaf_hash(canonical_line(graded_by)))
        tree.add(leaves[-1])
    return tree.root(), leaves


def _stored(questions: Sequence[Question], leaves: Sequence[bytes]) -> Iterator[StoredQuestion]:
    for position, (question, leaf) in enumerate(zip(questions, leaves, strict=True)):
        yield StoredQuestion(
            position=position,
            id=question.id,
            leaf=leaf,
            template=question.template,
            item=f"{question.template}/{question.item}",
            instance=0,
            variant=None,
            category=question.category,
            domain=question.category,
            level="",
            adversarial=None,
            number=None,
            format=compact_json(FORMAT),
            points=compact_json(POINTS),
            grading=compact_json(question.grading()),
        )


def _transcripts(
    name: str, questions: Sequence[Question], rows: Sequence[Row], failures: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Yield the transcript of each question by its id: that of its row, or one without replies."""
    experiment = EXPERIMENTS[name]
    by_key = {experiment.key(row): row for row in rows}
    lost = [question for question in questions if question.item not in by_key]
    for question in questions:
        if question.item in by_key:
            yield question.id, experiment.transcript(by_key[question.item])
    lost_transcripts = experiment.lost([question.item for question in lost], failures)
    yield from zip((question.id for question in lost), lost_transcripts, strict=True)


def _save(store: Store, model: str, place: Mapping[str, int], transcripts: Iterator[tuple[str, str]]) -> int:
    number = store.respondent(model, model, {})
    replies = [(place[id], 1, Reply(text)) for id, text in transcripts]
    store.save(number, sorted(replies, key=lambda entry: entry[0]))
    return len(replies)


def _failures(folder: Path) -> Mapping[str, Any]:
    """Return the failures that the study counted, by model and experiment; empty if unknown."""
    place = folder / "expected.json"
    try:
        failures = json.loads(place.read_text(encoding="utf-8")) if place.is_file() else {}
    except (OSError, ValueError) as error:
        raise unreadable_file(place, error) from None
    return failures if isinstance(failures, dict) else {}


def _session(name: str, replies: Sequence[TranscriptReply], item: int | None = None) -> TranscriptSession:
    return TranscriptSession(name, "subject", "", item, None, (), tuple(replies))


def _reply(name: str, text: str | None, value: Any = None, **more: Any) -> TranscriptReply:
    """Return a reply from a recording: its text, or a value, or neither."""
    error = MISSING if text is None and value is None else None
    return TranscriptReply(name, 0, text=text, extracted=None if value is None else encode(value), error=error, **more)


def _missing_replies(sessions: Mapping[str, str], recorded: Mapping[str, Any] | None = None) -> str:
    """Return the transcript of a question without replies: session -> the name of its reply."""
    return _transcript([_session(name, [_reply(reply, None)]) for name, reply in sessions.items()], recorded)


def _transcript(sessions: Sequence[TranscriptSession], recorded: Mapping[str, Any] | None = None) -> str:
    text = transcript_text(sessions)
    return text if recorded is None else compact_json({**json.loads(text), "recorded": dict(recorded)})


# 1: associations


def _associations(folder: Path, rows: Sequence[Row]) -> list[Question]:
    place = folder / "exp1_taboo_options.json"
    try:
        options = json.loads(place.read_text(encoding="utf-8")) if place.is_file() else {}
    except (OSError, ValueError) as error:
        raise unreadable_file(place, error) from None
    options = {**{row["target"]: row["options"] for row in rows}, **options}
    return [Question("association", word, {"row": {"word": word, "options": options[word]}}) for word in options]


def _association_transcript(row: Row) -> str:
    predictions = Record((str(name), bool(value)) for name, value in row["predictions"].items())
    listed = [str(word) for word in row["associations"]]
    produce, predict = _reply("listed", None, listed), _reply("expected", None, predictions)
    return _transcript([_session("produce", [produce]), _session("predict", [predict])])


def _no_association(items: Sequence[str], failures: Mapping[str, Any]) -> Iterator[str]:
    for _ in items:
        yield _missing_replies({"produce": "listed", "predict": "expected"})


# 2: restrictions


def _restrictions(folder: Path, rows: Sequence[Row]) -> list[Question]:
    labels = {str(row["prompt_id"]): str(row.get("label", "")) for row in rows}
    return [
        Question("restriction", item, {}, labels.get(item) or "unknown") for item in map(str, range(1, PROMPTS + 1))
    ]


def _restriction_transcript(row: Row) -> str:
    replies = {"predict": _choice("forecast", row["predicted"]), "judged": _choice("verdict", row["judged"])}
    return _transcript([_session(name, [reply]) for name, reply in replies.items()])


def _choice(name: str, value: str | None) -> TranscriptReply:
    """Return a choice as the study's parser read it.

    Its pattern for `\\boxed{}` accepted any content, such as `"B"` with quotes. The study counts such a row under a
    separate label, so it is a text without a choice.
    """
    return _reply(name, None, value) if value is None or value in CHOICES else _reply(name, str(value))


def _no_restriction(items: Sequence[str], failures: Mapping[str, Any]) -> Iterator[str]:
    """Yield transcripts without replies, with as many failed forecasts and judgements as the study counted."""
    failure_counts = [int(failures.get(name) or 0) for name in ("provision_failure", "verification_failure")]
    for at, _ in enumerate(items):
        name = "forecast" if at < failure_counts[0] else "verdict" if at < sum(failure_counts) else None
        yield _missing_replies({"predict": "forecast", "judged": "verdict"}, {"failed": name})


# 3: difficulty


def _difficulties(folder: Path, rows: Sequence[Row]) -> list[Question]:
    place = next(
        (folder / name for name in ("exp3_groups.jsonl.gz", "exp3_groups.jsonl") if (folder / name).is_file()), None
    )
    groups = {} if place is None else {row.cells["group_id"]: row.cells["questions"] for row in _rows_of(place)}
    for row in rows:
        questions = [{"id": item["question_id"], "answer": item["key"]} for item in row["items"]]
        groups.setdefault(row["group_id"], questions)
    return [
        Question(
            "difficulty", group, {"group": [{"id": one["id"], "answer": one["answer"]} for one in group_questions]}
        )
        for group, group_questions in groups.items()
    ]


def _rows_of(place: Path) -> Iterator[Any]:
    for row in json_lines.rows(place):
        if isinstance(row, DiaError):
            raise row
        yield row


def _difficulty_transcript(row: Row) -> str:
    sessions = [_session("single", [_single(item)], at) for at, item in enumerate(row["items"])]
    by_hand = list(row["ranking_stored"]) if row["ranking_repaired_by_hand_rules"] else None
    tokens = _whole(row.get("ranking_tokens"))
    order = _reply("order", row["raw_ranking"], by_hand, tokens=tokens)
    recorded = None if row["items"] else {"order": list(row["measured_ranking"])}
    return _transcript([*sessions, _session("rank", [order])], recorded)


def _single(item: Row) -> TranscriptReply:
    return _reply("letter", item["raw"], tokens=_whole(item["tokens"]))


def _whole(number: Any) -> int | None:
    return None if number is None else int(float(number))


def _no_difficulty(items: Sequence[str], failures: Mapping[str, Any]) -> Iterator[str]:
    for _ in items:
        yield _missing_replies({"rank": "order"})


# 4: the question that is made to fail


def _self_made(folder: Path, rows: Sequence[Row]) -> list[Question]:
    return [Question("self_made", "0", {})]


def _self_made_transcript(row: Row) -> str:
    options = [str(row["options"].get(letter, "")) for letter in "ABCD"]
    raw = str(row["key_raw"])
    key = raw.removeprefix("option_").strip().upper()
    fields = {"question": row["question"], "options": options, "key": key if key in ("A", "B", "C", "D") else None}
    value = Record({**fields, "key_raw": raw, "explanation": row["explanation"]})
    written_ = _reply("made", row["generation_raw"], value)
    solved = _reply("solved", row["self_test_raw"], row["self_test_extracted"])
    return _transcript([_session("write", [written_]), _session("solve", [solved])])


def _no_self_made(items: Sequence[str], failures: Mapping[str, Any]) -> Iterator[str]:
    for _ in items:
        yield _missing_replies({"write": "made", "solve": "solved"})


EXPERIMENTS: dict[str, Experiment] = {
    "exp1": Experiment(_associations, lambda row: str(row["target"]), _association_transcript, _no_association),
    "exp2": Experiment(_restrictions, lambda row: str(row["prompt_id"]), _restriction_transcript, _no_restriction),
    "exp3": Experiment(_difficulties, lambda row: str(row["group_id"]), _difficulty_transcript, _no_difficulty),
    "exp4": Experiment(_self_made, lambda row: "0", _self_made_transcript, _no_self_made),
}
