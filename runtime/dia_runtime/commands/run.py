"""`dia run`: asks respondents the questions of a bundle."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dia_runtime.commands.options import is_quiet
from dia_runtime.language.diagnostics import DiaError, Diagnostic, visible

if TYPE_CHECKING:
    from dia_runtime.bundle.open import Bundle
    from dia_runtime.run import Progress, RunSummary, Terms

RUNS = Path("build") / "runs"
REPLIES = Path("build") / ".cache" / "replies.sqlite"
AT_ONCE = 16
# Parts of a request that are not passed on as they are given: options name them, or they decide where keys go.
OWN = frozenset(
    {"model", "messages", "stream", "temperature", "max_tokens", "max_completion_tokens", "reasoning_effort", "seed"}
    | {"system", "endpoint", "through", "timeout", "num_retries", "max_retries", "proxies"}
    | {"api_key", "base_url", "api_base", "api_version", "extra_headers", "headers", "organization", "n"}
)
Report = Callable[["Progress"], None]


@click.command("run")
@click.argument("bundle", type=click.Path(path_type=Path))
@click.option("--model", "models", multiple=True, required=True, metavar="NAME", help="Whom to ask; repeatable.")
@click.option("-o", "--out", type=click.Path(path_type=Path), metavar="RUN", help="The file of the run.")
@click.option("--attempts", type=click.IntRange(min=1), default=1, show_default=True, help="Tries a question.")
@click.option("--limit", type=click.IntRange(min=1), help="Ask the first so many questions only.")
@click.option("--part", metavar="I/N", help="Ask every N-th question, from the I-th on.")
@click.option("--base-url", metavar="URL", help="Ask the OpenAI-compatible interface there.")
@click.option("--key-name", metavar="NAME", help="The key to send, by its name, which ends in _API_KEY.")
@click.option("--temperature", metavar="LIST", help="0.7, or several: 0,0.7,1 make a respondent each.")
@click.option("--max-tokens", type=click.IntRange(min=1), help="Bound of a reply.")
@click.option("--system", metavar="TEXT", help="A system prompt; @FILE reads it from a file.")
@click.option("--reasoning-effort", metavar="WORD", help="low, medium or high, where the model takes it.")
@click.option("--seed", type=int, help="Passed on to the provider.")
@click.option("--parameter", "extra", multiple=True, metavar="NAME=VALUE", help="Any other of the request; repeatable.")
@click.option("--concurrency", type=click.IntRange(1, 1024), help="Requests at once: 16, and copies of a program: 1.")
@click.option("--retries", type=click.IntRange(0, 100), default=6, show_default=True, help="Further tries on trouble.")
@click.option("--timeout", type=click.FloatRange(min=0.001), default=600.0, show_default=True, help="Seconds a reply.")
@click.option("--budget-usd", metavar="AMOUNT", help="Stop when so much money is spent.")
@click.option("--budget-tokens", type=click.IntRange(min=1), help="Stop when so many tokens are spent.")
@click.option("--budget-requests", type=click.IntRange(min=1), help="Stop after so many requests.")
@click.option("--role", "roles", multiple=True, metavar="ROLE=NAME", help="Who plays a role, or none; repeatable.")
@click.option(
    "--role-base-url", "role_urls", multiple=True, metavar="ROLE=URL", help="Where a role is asked; repeatable."
)
@click.option("--prefill", is_flag=True, help="The endpoint continues replies that are begun for the model.")
@click.option("--cache", is_flag=True, help="Take replies to the same requests from build/.cache/replies.sqlite.")
@click.option(
    "--through", type=click.Choice(["auto", "litellm"]), default="auto", show_default=True, help="How to reach models."
)
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Print no progress.")
def command(
    bundle: Path,
    models: tuple[str, ...],
    out: Path | None,
    attempts: int,
    limit: int | None,
    as_json: bool,
    quiet: bool,
    **asked: Any,
) -> int:
    """Ask models the questions of a bundle and keep every reply.

    NAME is a provider and its model, such as openai/gpt-4o-mini. Its key is read from the environment, or from .env of
    this folder. The models oracle, abstain, wrong and guess need no provider; nor do replay:FILE (recorded replies),
    'command:PROGRAM ARGUMENTS' (one line of JSON in, one out), manual:FOLDER (prompts as files, replies pasted beside
    them), simulated:theta=0.5 (answers by the Rasch model) and says:TEXT (always that text).

    Sessions may have roles beside that of the model, such as a judge: --role judge=NAME says who plays it, and none
    leaves its sessions out.

    The same command takes an interrupted run up where it stopped. Without --out each model's run is
    build/runs/BENCHMARK-MODEL.run.

    \b
    Example:
      dia run build/dia_bench-0.3.0-k5 --model oracle
    """
    from dia_runtime.bundle.open import open_bundle
    from dia_runtime.respondents import RESPONDENTS, require_known
    from dia_runtime.respondents.models import announced, is_known
    from dia_runtime.respondents.roles import NOBODY, role_wish

    names, terms = list(dict.fromkeys(models)), terms_of(asked)
    for name in names:
        if not is_known(name, terms.wish):
            require_known(name)
    opened = open_bundle(bundle)
    quiet = is_quiet(quiet)
    places = announced([name for name in names if name not in RESPONDENTS], terms.wish)
    for role, name in terms.roles.items():
        places += announced(
            [name] if name not in (NOBODY, *RESPONDENTS) else [], role_wish(role, terms.role_urls, terms.wish)
        )
    for line in dict.fromkeys(places):
        click.echo(visible(line), err=True)
    summaries = []
    for path, group in _files(opened, names, out):
        summary = _asked(opened, group, path, limit, attempts, quiet, terms)
        if summary is None:
            return 130
        summaries.append(summary)
    click.echo(json.dumps(run_json(summaries), indent=2) if as_json else _places(summaries))
    return _ended(summaries)


def _ended(summaries: Sequence[RunSummary]) -> int:
    """The exit code; what providers refused is told."""
    from dia_runtime.language.diagnostics import told

    refused = [entry for summary in summaries for entry in summary.respondents if entry.is_refused]
    for entry in refused:
        message = visible(f"`{entry.respondent}` was asked no further: {entry.ended}")
        click.echo(told(Diagnostic("E825", message, None, "the same command asks what is missing"), {}), err=True)
    return 4 if refused else int(any(summary.has_errors for summary in summaries))


def terms_of(asked: Mapping[str, Any]) -> Terms:
    """The terms that the options give. Raises DiaError (exit 2) for a number that is none."""
    from dia_runtime.respondents.budget import Budget
    from dia_runtime.respondents.chat import Settings
    from dia_runtime.respondents.models import Wish
    from dia_runtime.run import Terms

    temperatures = tuple(_decimal("--temperature", part) for part in (asked["temperature"] or "").split(",") if part)
    money = asked["budget_usd"]
    settings = Settings(
        max_tokens=asked["max_tokens"],
        system=_text_of(asked["system"]),
        reasoning_effort=asked["reasoning_effort"],
        seed=asked["seed"],
        extra=dict(map(_parameter, asked["extra"])),
    )
    wish = Wish(settings, temperatures, asked["base_url"], asked["key_name"], asked["timeout"], asked["through"],
                copies=asked["concurrency"] or 1, prefill=asked["prefill"])  # fmt: skip
    budget = Budget(
        None if money is None else Decimal(_decimal("--budget-usd", money)),
        asked["budget_tokens"],
        asked["budget_requests"],
    )
    cache = REPLIES if asked["cache"] else None
    at_once = asked["concurrency"] or AT_ONCE
    roles, urls = _bound("--role", asked["roles"]), _bound("--role-base-url", asked["role_urls"])
    return Terms(wish, at_once, asked["retries"], budget, cache, _part(asked["part"]), roles, urls)


def _bound(option: str, texts: Sequence[str]) -> dict[str, str]:
    """Role -> what stands behind its sign. Raises DiaError (exit 2)."""
    found: dict[str, str] = {}
    for text in texts:
        role, equals, value = text.partition("=")
        if not role or not equals or not value or role in found:
            mend = f"write `{option} judge=...`, once a role"
            raise DiaError(Diagnostic("E846", visible(f"`{option} {text}` binds no role"), None, mend))
        found[role] = value
    return found


def _part(text: str | None) -> tuple[int, int]:
    """Which part of how many."""
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text or "1/1")
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise DiaError(
            Diagnostic("E600", visible(f"`--part {text}` is no part"), None, "write 2/5 for the second of five")
        )
    return int(found[1]), int(found[2])


def _parameter(text: str) -> tuple[str, Any]:
    """Name and value of a parameter: the value as JSON where it is some, else as text."""
    name, equals, value = text.partition("=")
    if not equals or not re.fullmatch(r"[a-z][a-z0-9_]{0,60}", name) or name in OWN:
        mend = "write a parameter of the provider that no other option names: top_p=0.9"
        raise DiaError(Diagnostic("E600", visible(f"`--parameter {text}` cannot be passed on"), None, mend))
    try:
        return name, json.loads(value, parse_float=Decimal, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return name, value


def _no_number(name: str) -> Any:
    raise ValueError(name)


def _decimal(option: str, text: str) -> str:
    """The text of a decimal number from 0 on."""
    held = text.strip()
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", held):
        raise DiaError(Diagnostic("E600", visible(f"`{option}` takes numbers such as 0.7, not `{text}`")))
    return held


def _text_of(given: str | None) -> str | None:
    """The text itself, or that of the file behind `@`."""
    if given is None or not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise DiaError(Diagnostic("E600", visible(f"`--system {given}` cannot be read: {error}"))) from None


def _files(bundle: Bundle, models: list[str], out: Path | None) -> list[tuple[Path, list[str]]]:
    """The files to write, each with its models: one of all, or one a model."""
    if out is not None:
        return [(out, models)]
    benchmark = _plain(bundle.manifest["benchmark"])
    return [(RUNS / f"{benchmark}-{_plain(model)}.run", [model]) for model in models]


def _plain(name: str) -> str:
    """The name as part of a file's name."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.")[:100] or "unnamed"


def _asked(
    bundle: Bundle, models: list[str], path: Path, limit: int | None, attempts: int, quiet: bool, terms: Terms
) -> RunSummary | None:
    """The summary; None for a run that was interrupted."""
    from dia_runtime.run import run

    try:
        with _progress(_shown_names(models, terms), quiet) as report:
            summary = run(bundle, models, path, limit, attempts, report, terms)
    except KeyboardInterrupt:
        message = f"interrupted: the replies so far are in {path}; the same command asks for the others"
        click.echo(visible(message), err=True)
        return None
    if not quiet:
        for line in [*([] if sys.stderr.isatty() else _lines(summary)), *_left_out(summary)]:
            click.echo(visible(line), err=True)
    return summary


def _shown_names(models: list[str], terms: Terms) -> list[str]:
    """The names of the respondents that the models make."""
    from dia_runtime.respondents import RESPONDENTS

    warmths = terms.wish.temperatures
    if len(warmths) < 2:
        return models
    return [n for m in models for n in ([m] if m in RESPONDENTS else [f"{m}@{warmth}" for warmth in warmths])]


def _progress(models: Sequence[str], quiet: bool) -> AbstractContextManager[Report | None]:
    """What to call with each step: a bar on a terminal, else a line where the run waits for another process."""
    if quiet:
        return nullcontext()
    if not sys.stderr.isatty():
        return nullcontext(_waits())
    from dia_runtime.commands.bars import bars

    return bars(models)


def _waits() -> Report:
    """Tells once of each respondent that another process is asking what is left."""
    known: set[str] = set()

    def report(step: Progress) -> None:
        if step.elsewhere and step.respondent not in known:
            known.add(step.respondent)
            message = f"{step.respondent}: waits for {step.elsewhere} questions that another process is asking"
            click.echo(visible(message), err=True)

    return report


def _lines(summary: RunSummary) -> Iterator[str]:
    total = summary.questions * summary.attempts
    for entry in summary.respondents:
        kept = f", {entry.kept} of them from before" if entry.kept else ""
        errors = f", {entry.errors} errors" if entry.errors else ""
        errors += f"; ended early: {entry.ended}" if entry.ended and not entry.is_refused else ""  # told as an error
        still = f", {entry.open} still to come" if entry.open else ""
        still += f", {entry.cost} US dollars" if entry.cost not in (None, "0") else ""
        there = entry.kept + entry.asked - entry.errors
        yield f"{entry.respondent}: {there} of {total} replies{kept}{errors}{still}"


def _left_out(summary: RunSummary) -> Iterator[str]:
    for entry in summary.respondents:
        for why, number in entry.left_out.items():
            yield f"{entry.respondent}: {number} questions are left out: {why}"


def _places(summaries: Sequence[RunSummary]) -> str:
    return "\n".join(visible(str(summary.path)) for summary in summaries)


def run_json(summaries: Sequence[RunSummary]) -> dict[str, Any]:
    """What `dia run --json` prints."""
    return {
        "bundle": summaries[0].bundle_id,
        "questions_root": summaries[0].questions_root,
        "questions": summaries[0].questions,
        "attempts": summaries[0].attempts,
        "runs": [
            {
                "path": str(summary.path),
                "model": entry.respondent,
                "asked": entry.asked,
                "kept": entry.kept,
                "errors": entry.errors,
                "ended": entry.ended,
                "open": entry.open,
                "requests": entry.requests,
                "prompt_tokens": entry.prompt_tokens,
                "completion_tokens": entry.completion_tokens,
                "cost": entry.cost,
                "left_out": [{"why": why, "questions": number} for why, number in entry.left_out.items()],
            }
            for summary in summaries
            for entry in summary.respondents
        ],
    }
