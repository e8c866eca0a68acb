"""Health checks of all rows of a template together: equal questions, and the distribution of answers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dia_language.counts import counted
from dia_language.diagnostics import Diagnostics, Position

from dia_compiler.freeze.equal_questions import equal_questions
from dia_compiler.freeze.output import DEFAULT_K
from dia_compiler.freeze.spool import FIRST, LONG, LONGEST, SHOWN, Spool
from dia_compiler.freeze.summary import Summary
from dia_compiler.parse.model import Template
from dia_compiler.sampling.digests import groups
from dia_compiler.sampling.instance_tree import ATTEMPTS

FIXES = {
    "few-instances": "widen a parameter, or set `instances: all`",
    "k-equals-d": "widen a parameter",
    "low-acceptance": "exclude values that never or rarely fit, in the type of the parameter",
}
MANY = 10  # instances that a meaningful share of answers needs


@dataclass(frozen=True, slots=True)
class RowStatistics:
    """Statistics of a template's rows; an instance and its variants count once.

    `positions` is None if every instance is at the position of its number; `twins` are the numbers of two
    rows with one text.
    """

    rows: int
    instances: int
    items: int
    answers_shown: int
    long: int
    distinct: int
    commonest: int
    positions: tuple[int, ...] | None
    twins: tuple[int, int] | None

    @property
    def commonest_share(self) -> Fraction:
        """The share of the instances that have the most common answer."""
        return Fraction(self.commonest, self.instances) if self.instances else Fraction(0)


def row_statistics(spool: Spool) -> RowStatistics:
    """Return the statistics of the rows."""
    instances = items = answers_shown = long = 0
    is_straight = True
    for entry in spool.entries():
        answers_shown += bool(entry.flags & SHOWN)
        long += bool(entry.flags & LONG)
        items += bool(entry.flags & FIRST)
        instances += entry.is_base
        is_straight &= entry.position == entry.instance
    distinct = commonest = 0
    for group in groups(entry.text for entry in spool.entries() if entry.is_base):
        distinct, commonest = distinct + 1, max(commonest, group.size)
    positions = None if is_straight else tuple(entry.position for entry in spool.entries() if entry.is_base)
    return RowStatistics(
        spool.rows, instances, items, answers_shown, long, distinct, commonest, positions, _twins(spool)
    )


def _twins(spool: Spool) -> tuple[int, int] | None:
    """Return the first two rows with the same text."""
    equal = (group for group in groups(entry.content for entry in spool.entries()) if group.size > 1)
    first = min(equal, key=lambda group: group.second, default=None)
    return None if first is None else (first.first, first.second)


def check_health(
    template: Template,
    spool: Spool,
    summary: Summary,
    figures: RowStatistics,
    k: int,
    diagnostics: Diagnostics,
    is_trial: bool,
) -> None:
    """Report equal questions as an error, and the health warnings."""
    if figures.twins is not None:
        is_named = figures.items > 1 or figures.rows > figures.instances
        diagnostics.entries.append(equal_questions(template, spool, figures.twins, is_named))
    for name, (message, place) in _warnings(template, spool, summary, figures, k, is_trial).items():
        if name not in template.allow:
            diagnostics.warn(
                name, message, place, f"{FIXES.get(name, 'fix it')}, or allow it: `allow: {{{name}: reason}}`"
            )


def _shortage(template: Template, summary: Summary, figures: RowStatistics, k: int) -> str | None:
    """Return that a compile will find too few instances, or None; a trial takes as many as there are."""
    if not template.parameters or isinstance(template.instances, str):
        return None  # it has one instance, or takes all
    freedom: Any = summary.freedom
    fewest = freedom.count if freedom.kind == "exact" else None
    if figures.items == 1 and figures.instances < k:
        fewest = figures.instances
    needed = template.instances if isinstance(template.instances, int) else max(k, DEFAULT_K)
    if fewest is None or not 1 < fewest < needed:
        return None
    return f"the template can make only {counted(fewest, 'instance')}, but `dia compile` asks for {needed:,}"


def _warnings(
    template: Template, spool: Spool, summary: Summary, figures: RowStatistics, k: int, is_trial: bool
) -> dict[str, tuple[str, Position]]:
    place = template.answer.position if template.answer else template.position
    warnings: dict[str, tuple[str, Position]] = {}
    count = figures.instances
    # The truth of sessions comes from the model's replies. For shuffled options it is a random letter.
    is_lettered = template.choices is not None and template.choices.is_shuffled
    has_answer = template.session_spec is None and not is_lettered
    if has_answer and template.parameters and count > 2 and figures.distinct == 1:
        answer = f"the answer `{spool.sample}`" if spool.sample else "an empty answer"
        warnings["constant-answer"] = (f"all {count:,} instances have {answer}", place)
    elif has_answer and count >= MANY and figures.commonest_share > Fraction(1, 2):
        message = (
            f"{figures.commonest:,} of {count:,} instances have the same answer, so a constant guess is mostly right"
        )
        warnings["few-distinct-answers"] = (message, place)
    if figures.long:
        verb = "is" if figures.long == 1 else "are"
        message = f"{figures.long:,} of {figures.rows:,} prompts {verb} longer than {LONGEST:,} characters"
        warnings["oversized-prompt"] = (message, template.position)
    if 2 * figures.answers_shown > figures.rows:
        place_of_answer = "the prompt or an attached text" if template.assets else "the prompt"
        share = f"{figures.answers_shown:,} of {figures.rows:,} instances"
        message = f"the answer appears in {place_of_answer} in {share}"
        warnings["answer-in-prompt"] = (message, place)
    accepted, drawn = summary.acceptance
    if drawn >= 200 and accepted * 100 < drawn and (accepted >= MANY or drawn >= ATTEMPTS):
        message = f"only {accepted:,} of {drawn:,} attempts satisfied every condition"
        dead = summary.dead_ends
        if dead is not None:
            message += f"; {counted(dead.count, 'time')}, {ATTEMPTS:,} attempts in a row failed"
            message += f", such as with {dead.example}" if dead.example else ""
        warnings["low-acceptance"] = (message, (dead and dead.place) or template.position)
    freedom: Any = summary.freedom
    count_per_item = k if template.instances is None else template.instances  # `all` is on purpose
    if freedom.kind == "exact" and freedom.count == count_per_item and template.parameters and not is_trial:
        message = (
            f"the bundle contains every instance that the template can make ({count_per_item:,}), so k cannot be larger"
        )
        warnings["k-equals-d"] = (message, template.position)
    if is_trial and (shortage := _shortage(template, summary, figures, k)):
        warnings["few-instances"] = (shortage, template.position)
    return warnings
