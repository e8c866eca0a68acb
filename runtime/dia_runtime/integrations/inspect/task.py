"""Tasks of Inspect: the exported ones, and those of bundles by the entry point `dia`.

inspect eval dia/dia_bench -T bundle=build/dia_bench-1.0.0-k5 --model openai/gpt-5
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_runtime.bundle.open import open_bundle
from dia_runtime.bundle.session_records import read_sessions, roles_in
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.integrations.exported_tasks import figures
from dia_runtime.integrations.exported_tasks.grading import Graded, grade_reply
from dia_runtime.integrations.exported_tasks.rows import rows
from dia_runtime.integrations.exported_tasks.transcripts import grade_transcript, without_sessions
from dia_runtime.integrations.exporting.question_rows import ROWS
from dia_runtime.integrations.exporting.question_rows import rows as rows_of
from dia_runtime.integrations.inspect.content import content_of
from dia_runtime.integrations.inspect.export import HOLDS
from dia_runtime.integrations.inspect.logs import LEFT_OUT
from dia_runtime.integrations.inspect.sessions import Room, outline
from dia_runtime.integrations.inspect.tools import Choice, chosen_tools
from dia_runtime.respondents.chat import Settings, chat_messages
from dia_runtime.respondents.respondent import RequestError
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
)
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, mean, metric, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver, use_tools

Row = Mapping[str, Any]
SAYS = {"user": ChatMessageUser, "system": ChatMessageSystem, "assistant": ChatMessageAssistant}


def task_beside(module: str, tools: Choice = False, sandbox: str = "docker", prefill: bool = False) -> Task:
    """Return the task of the questions in the folder of a module."""
    path = Path(module).with_name(ROWS)
    return task_of(rows(path), path.parent, tools, sandbox, prefill)


def task_of(
    rows: Iterable[Row], folder: Path, tools: Choice = False, sandbox: str = "docker", prefill: bool = False
) -> Task:
    """Return the task of exported rows with assets in a folder; with `prefill`, models continue prefilled replies."""
    tools_of_task = chosen_tools(tools)
    samples = [_sample(row, folder, bool(tools_of_task)) for row in rows]
    names = {name: (samples[0].metadata or {})[name] for name in ("bundle_id", "questions_root")} if samples else {}
    sessions_of_samples = [
        sample.metadata["sessions"] for sample in samples if sample.metadata and "sessions" in sample.metadata
    ]
    room = Room(folder, frozenset(role for sessions in sessions_of_samples for role in roles_in(sessions)), prefill)
    room.require_roles()
    last = _played(room) if sessions_of_samples else generate()
    return Task(
        dataset=MemoryDataset(samples),
        solver=[use_tools(tools_of_task), last] if tools_of_task else [last],
        scorer=verdict_and_share() if sessions_of_samples else verdict(),
        sandbox=sandbox if tools_of_task else None,
        metadata=names,
    )


@task
def dia_bench(bundle: str | None = None, tools: Choice = False, sandbox: str = "docker", prefill: bool = False) -> Task:
    """Return the task of a bundle, by default of the only DIA-Bench bundle below `build/`."""
    path = Path(bundle) if bundle else _only("dia_bench")
    opened = open_bundle(path)
    return task_of(rows_of(opened, "inspect", HOLDS), path, tools, sandbox, prefill)


def _played(room: Room) -> Solver:
    """Return a solver that runs the sessions of a question; other questions are asked as usual in Inspect."""

    @solver
    def sessions() -> Solver:  # without arguments, which Inspect would write to its log
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            return await (room.play(state) if "sessions" in state.metadata else generate(state))

        return solve

    return sessions()


def _only(benchmark: str) -> Path:
    bundles = sorted(path.parent for path in Path("build").glob(f"{benchmark}-*/manifest.json"))
    if len(bundles) != 1:
        message = f"`build/` contains {len(bundles) or 'no'} bundle{'s' * (len(bundles) != 1)} of `{benchmark}`"
        help = "make one with `dia compile`, and name it: `-T bundle=build/...`"
        raise DiaError(Diagnostic("E701", message, None, help))
    return bundles[0]


def _sample(row: Row, folder: Path, tools: bool) -> Sample:
    if "sessions" in row:
        try:
            return Sample(id=row["id"], input=outline(read_sessions(row)), metadata=dict(row))
        except ValueError as error:
            message = visible(f"`{row['id']}` has sessions that cannot be run: {error}")
            raise DiaError(Diagnostic("E714", message, None, "export the bundle again")) from None
    beside = [asset for asset in row["assets"] if asset["deliver"] == "file"]
    if beside and not tools:
        message = f"`{row['id']}` has a file for a model with tools"
        raise DiaError(Diagnostic("E714", message, None, "ask with `-T tools=true`"))
    attached = {**row, "assets": [asset for asset in row["assets"] if asset["deliver"] != "file"]}
    try:
        chat = chat_messages(attached, Settings(), lambda name: (folder / name).read_bytes())
    except RequestError as trouble:
        raise DiaError(Diagnostic("E714", trouble.message, None)) from None
    return Sample(
        id=row["id"],
        input=[SAYS[message["role"]](content=content_of(message["content"])) for message in chat],
        target=row["answer"],
        metadata={name: value for name, value in row.items() if name != "messages"},
        files={asset["name"]: str((folder / asset["path"]).resolve()) for asset in beside} or None,
    )


def _entries(scores: Sequence[SampleScore]) -> Iterator[str]:
    """Return the entries of figures over items: each sample's item, whether it is correct, and its points."""
    for scored in scores:
        value = scored.score.as_float()
        grade = Graded(Verdict.CORRECT if value == 1 else Verdict.WRONG, None, Fraction(value).limit_denominator(10**9))
        yield figures.figure_entry(str((scored.sample_metadata or {})["item"]), grade)


def _over_items(figure: Callable[[Sequence[str]], float]) -> Metric:
    def over_items(scores: list[SampleScore]) -> Value:  # Inspect decides by its annotations what to pass
        return figure(list(_entries(scores)))

    return over_items


@metric
def conf() -> Metric:
    """Return Conf@k of a score that is 1 for correct."""
    return _over_items(figures.conf)


@metric
def nms() -> Metric:
    """Return NMS@k of a score that is 1 for correct."""
    return _over_items(figures.nms)


@metric
def tsr() -> Metric:
    """Return the mean TSR@(t,k) of a score that is 1 for correct."""
    return _over_items(figures.tsr)


@metric
def rs() -> Metric:
    """Return RS@k of a score that is in points."""
    return _over_items(figures.rs)


def _shared() -> list[Metric]:
    return [mean(), stderr(cluster="item")]


def _metrics() -> dict[str, list[Metric]]:
    return {
        "correct": [*_shared(), conf(), nms(), tsr()],
        "skipped": _shared(),
        "unparsed": _shared(),
        "points": [*_shared(), rs()],
    }


@scorer(metrics=_metrics())
def verdict() -> Scorer:
    """Return the verdict of dia's own grader on the model's last message."""

    async def score(state: TaskState, target: Target) -> Score:
        grade = grade_reply(state.metadata, state.output.completion)
        metadata = {"verdict": grade.verdict, "points": str(grade.points)}
        return Score(value=grade.figures(), answer=grade.extracted, explanation=grade.verdict, metadata=metadata)

    return score


@scorer(metrics={**_metrics(), "share": _shared()})
def verdict_and_share() -> Scorer:
    """Return verdict and share of full marks, for tasks with session questions; NaN for one left out."""

    async def score(state: TaskState, target: Target) -> Score:
        if LEFT_OUT in state.metadata:
            return Score.unscored(reason="left_out", explanation=state.metadata[LEFT_OUT])
        if "sessions" in state.metadata:
            graded_sample = grade_transcript(state.metadata, state.output.completion)
        else:
            graded_sample = without_sessions(grade_reply(state.metadata, state.output.completion))
        grade = graded_sample.grade
        metadata = {"verdict": grade.verdict, "points": str(grade.points), "share": str(graded_sample.share)}
        return Score(
            value=graded_sample.figures(), answer=grade.extracted, explanation=grade.verdict, metadata=metadata
        )

    return score
