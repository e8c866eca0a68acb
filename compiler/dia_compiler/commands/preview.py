"""`dia preview`: show instances in the terminal."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import click
from dia_language.counts import counted, freedom_text
from dia_language.diagnostics import visible
from dia_runtime.commands.options import json_option
from dia_runtime.commands.ranges import IntRange
from dia_runtime.commands.terminal import echo

from dia_compiler.commands.console import is_quiet, is_verbose, print_diagnostics, progress
from dia_compiler.commands.programs import allow_programs

if TYPE_CHECKING:
    from dia_compiler.authoring.preview import Preview, Sample, Shown

BINS, BAR, CUT = 10, 24, 200


@click.command("preview")
@click.argument("path", metavar="SPEC", type=click.Path(path_type=Path))
@click.option("--instance", type=IntRange(0, 999_999), metavar="N",
              help="Show only instance N (numbered from 0).")  # fmt: skip
@click.option("--item", metavar="NAME|NUMBER",
              help="Of a template with `each`: show this item (numbered from 0; default: the first).")  # fmt: skip
@click.option("--seed", metavar="TEXT", help="Seed of the instances (default: the benchmark's, else 0).")
@click.option("--stress", type=IntRange(min=10, max=1_000_000), metavar="N",
              help="Make N instances, and show how run time and answer depend on each parameter.")  # fmt: skip
@allow_programs
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    path: Path,
    instance: int | None,
    item: str | None,
    seed: str | None,
    stress: int | None,
    allow_programs: str,
    as_json: bool,
) -> int:
    """Show instances of a template: parameters, prompt, answer, checks and run time. Say how many there can be.

    With -v, shows the prompt as the model reads it, with the benchmark's wrapper. Nothing is written.

    \b
    Example:
      dia preview specs/dia_bench/d001_next_prime.yaml
    """
    from dia_compiler.authoring.preview import preview

    with progress(is_quiet(ctx), has_lines=False) as report:
        previews, checked = preview(path, seed, instance, stress, allow_programs, report, item)
    if not is_quiet(ctx):
        print_diagnostics(checked.diagnostics.ordered(checked.sources), checked.sources)
    if as_json:
        echo(json.dumps({"templates": [_facts(one, bool(stress)) for one in previews]}, indent=2))
        return 0
    for one in previews:
        _print(one, bool(stress), is_verbose(ctx))
    return 0


def _facts(preview: Preview, is_stress: bool) -> dict[str, Any]:
    assert preview.overview is not None
    answers = Counter(sample.text for sample in preview.samples)
    facts: dict[str, Any] = {
        "template": preview.template.name,
        "title": str(preview.template.facts.get("title", "")),
        "degree_of_freedom": preview.overview.freedom.as_json(),
        "items": preview.overview.items,
        "checks": preview.overview.checks,
        "examples": preview.overview.examples,
        "draws": {"accepted": preview.overview.draws[0], "made": preview.overview.draws[1]},
        "instances": [_instance(instance) for instance in preview.shown],
        "answers": {"made": len(preview.samples), "distinct": len(answers), "commonest": max(answers.values())},
        "seconds": {"median": median(sample.seconds for sample in preview.samples),
                    "most": max(sample.seconds for sample in preview.samples)},
    }  # fmt: skip
    return facts | ({"stress": {name: _bins(preview.samples, name) for name in _names(preview)}} if is_stress else {})


def _instance(instance: Shown) -> dict[str, Any]:
    return {name: getattr(instance, name) for name in instance.__slots__}


def _names(preview: Preview) -> list[str]:
    """Return the parameters whose value, or its size, differs between instances."""
    return [name for name in _all_names(preview) if len(set(_measures(preview.samples, name)) - {None}) > 1]


def _all_names(preview: Preview) -> list[str]:
    return list(preview.samples[0].measures) if preview.samples else []


def _measures(samples: Sequence[Sample], name: str) -> list[float | str | None]:
    """Return what the samples are grouped by: the parameter itself if it has few short texts, otherwise its size."""
    if _is_named(samples, name):
        return [sample.words[name] for sample in samples]
    return [sample.measures[name] for sample in samples]


def _is_named(samples: Sequence[Sample], name: str) -> bool:
    words = {sample.words.get(name) for sample in samples}
    return None not in words and len(words) <= min(BINS, len(samples) // 2)


def _print(preview: Preview, is_stress: bool, is_whole: bool) -> None:
    assert preview.overview is not None
    overview, title = preview.overview, str(preview.template.facts.get("title", ""))
    echo(click.style(preview.template.name, bold=True) + visible(f": {title}" if title else ""), is_styled=True)
    of_each = " of an item" if overview.items > 1 else ""
    parts = [f"possible instances{of_each}: {freedom_text(overview.freedom.as_json(), overview.estimate)}"]
    parts += [f"{counted(overview.items, 'item')} (--item shows another)"] if overview.items > 1 else []
    parts += [counted(overview.checks, "check"), counted(overview.examples, "worked example")]
    echo(f"  {' · '.join(parts)}")
    base: Shown | None = None
    for instance in preview.shown:
        base = instance if instance.variant is None else base
        _print_instance(instance, base, is_whole)
    if len(preview.samples) > 1 and not any(instance.sessions for instance in preview.shown):
        _print_answers(preview.samples)
    if is_stress:
        names = _names(preview)
        for name in names:
            _plot(_heading(preview, name), _bins(preview.samples, name), _heading(preview, "answer"))
        if others := [name for name in _all_names(preview) if name not in names]:
            same = [name for name in others if not any(name in sample.sizes for sample in preview.samples)]
            equal = [name for name in others if name not in same]
            echo("\n" + "; ".join(_untabled(same, "the same value") + _untabled(equal, "values of the same length")))


def _untabled(names: list[str], why: str) -> list[str]:
    return [f"no table for {', '.join(names)}: {why} in all instances"] if names else []


def _heading(preview: Preview, name: str) -> str:
    """Return the heading of the column with a value, or with its length or number of digits."""
    sizes = {sample.sizes[name] for sample in preview.samples if name in sample.sizes}
    is_size = sizes and (name == "answer" or not _is_named(preview.samples, name))
    return f"{min(sizes)} of {name}" if is_size else name


def _print_instance(instance: Shown, base: Shown | None, is_whole: bool) -> None:
    """Print an instance; of a variant, only the values that differ from those of its instance, and the prompt."""
    name = f"instance {instance.number}" + (f" of item `{instance.item}`" if instance.item else "")
    name += f", variant {instance.variant}" if instance.variant else f" ({instance.seconds * 1000:.1f} ms)"
    echo("\n" + click.style(name, bold=True), is_styled=True)
    truth = {} if instance.sessions else {"answer": instance.answer}
    facts = {**instance.parameters, **truth, **{f"mistake {k}": v for k, v in instance.mistakes.items()}}
    if base is not None and instance.variant is not None:
        before = {**base.parameters, "answer": base.answer, **{f"mistake {k}": v for k, v in base.mistakes.items()}}
        facts = {name: value for name, value in facts.items() if before.get(name) != value}
    width = max(map(len, facts), default=0)
    for key, value in facts.items():
        echo(f"  {key.ljust(width)}  {visible(_cut(value))}")
    if instance.sessions:
        _print_sessions(instance)
    for line in (instance.content if is_whole else instance.challenge).split("\n") if not instance.sessions else ():
        echo(f"  | {visible(line)}")
    for asset in instance.assets:
        echo(f"  attachment: {asset}")
    if instance.explanation and not instance.variant:
        echo(f"  explanation: {visible(_cut(instance.explanation))}")


def _print_sessions(instance: Shown) -> None:
    """Print each session: the replies that it uses, its turns with placeholders for replies, and the truth."""
    for session in instance.sessions:
        reads = [f"`{name}` from `{owner}`" for name, owner in session["reads"].items()]
        reads_words = f"uses {', '.join(reads)}" if reads else "uses no replies from other sessions"
        echo(
            f"  {click.style(session['name'], bold=True)}: {visible('; '.join([reads_words, *session['notes']]))}",
            is_styled=True,
        )
        for turn in session["turns"]:
            notes = f" ({', '.join(turn['notes'])})" if turn.get("notes") else ""
            echo(f"    {turn['speaker']}{visible(notes)}")
            for line in turn["text"].split("\n"):
                echo(f"    | {visible(line)}")
    for line in instance.truth:
        echo(f"  {visible(_cut(line))}")


def _print_answers(samples: list[Sample]) -> None:
    answers = Counter(sample.text for sample in samples)
    text, most = answers.most_common(1)[0]
    common = f", the most common one ({visible(_cut(text, 30))}) in {most:,}" if most > 1 else ""
    times = sorted(sample.seconds * 1000 for sample in samples)
    echo(
        f"\nof {counted(len(samples), 'instance')} in all: {counted(len(answers), 'distinct answer')}{common}; "
        f"median {median(times):.2f} ms per instance, slowest {times[-1]:.1f} ms"
    )


def _bins(samples: list[Sample], name: str) -> list[dict[str, Any]]:
    """Return the samples grouped by one parameter or its size.

    A group has its lowest and highest value, count, median seconds, and median answer.
    """
    pairs = zip(_measures(samples, name), samples, strict=True)
    chosen = [(value, sample) for value, sample in pairs if value is not None]
    values = sorted({value for value, _ in chosen}, key=lambda value: (isinstance(value, str), value))
    if len(values) <= BINS or any(isinstance(value, str) for value in values):
        edges = [(value, value) for value in values]
    else:
        low, high = float(values[0] or 0), float(values[-1] or 0)
        step = (high - low) / BINS
        edges = [(low + step * place, low + step * (place + 1)) for place in range(BINS)]
    last = edges[-1]
    bins = []
    for edge in edges:
        inside = [
            (value, sample)
            for value, sample in chosen
            if edge[0] == value == edge[1] or _is_within(value, edge, edge is last)
        ]
        answers = [sample.answer for _, sample in inside if sample.answer is not None]
        if inside:
            values_inside: list[Any] = [value for value, _ in inside]
            bins.append({
                "from": min(values_inside), "to": max(values_inside), "count": len(inside),
                "seconds": median(sample.seconds for _, sample in inside),
                "answer": median(answers) if answers else None,
            })  # fmt: skip
    return bins


def _is_within(value: Any, edge: tuple[Any, Any], is_last: bool) -> bool:
    return edge[0] != edge[1] and (edge[0] <= value < edge[1] or (is_last and value == edge[1]))


def _plot(name: str, bins: list[dict[str, Any]], answer_heading: str) -> None:
    """Print bars of the median run time and the median answer by the size of the parameter."""
    labels = [_label(row) for row in bins]
    width = max(map(len, [*labels, name]))
    slowest = max(row["seconds"] for row in bins)
    answers = [abs(row["answer"]) for row in bins if row["answer"] is not None]
    answer_column = f"median {answer_heading}" if answers else ""
    echo(f"\n{name.ljust(width)}  {'n':>7}  {'median run time'.ljust(BAR + 14)}{answer_column}")
    for label, row in zip(labels, bins, strict=True):
        time = _bar(row["seconds"], slowest).ljust(BAR) + f" {row['seconds'] * 1000:8.2f} ms  "
        answer = "" if row["answer"] is None else f"{_bar(abs(row['answer']), max(answers))} {row['answer']:g}"
        echo(f"{label.ljust(width)}  {row['count']:>7}  {time}{answer}".rstrip())


def _label(row: dict[str, Any]) -> str:
    if row["from"] == row["to"]:
        return visible(row["from"]) if isinstance(row["from"], str) else f"{row['from']:g}"
    return f"{row['from']:.6g} to {row['to']:.6g}"


def _bar(value: float, most: float) -> str:
    return "#" * max(1, round(value / most * BAR)) if value and most else ""


def _cut(text: str, most: int = CUT) -> str:
    flat = text.replace("\n", "\\n")
    return flat if len(flat) <= most else f"{flat[: most - 20]}... ({len(text):,} characters)"
