"""Grade replies: from the correct answer and a reply to a verdict.

- error: there is no reply.
- unparsed: no answer could be extracted from the reply.
- skipped: the answer is the skip token, in the same case, and the question can be answered.
- correct: read as the answer's type, it is the truth or an accepted form; where the answer has a condition
  (`accept_if`), the condition alone decides, and an evaluation of it that fails on the reply is a no.
  Where the comparison says that the question is unanswerable, the skip token is correct and nothing else is.
- wrong: everything else, also what cannot be read as the type, and what can be proven neither right nor wrong.

Strict and lenient chains read strictly and leniently. A chain that a format names verbatim (`compat` of the format
`xml`) reads nothing: the extracted text is compared as a string with the wrapped canonical text (correct), then with
the wrapped skip token (skipped), else it is wrong; so is a reply that does not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from dia_language.answers import Undecided, Unreadable, answer_type
from dia_language.answers.base import CHARACTERS, AnswerType
from dia_language.budgets import reset
from dia_language.diagnostics import DiaError, Diagnostic, LanguageError, did_you_mean, visible
from dia_language.numbers.values import Value, decode
from dia_runtime.formats import FORMATS
from dia_runtime.formats.base import STANDARD, effective_chain, mode_of, readable_texts, rules_of
from dia_runtime.grading.verdicts import Verdict

Condition: TypeAlias = Callable[[Value], bool]
Share: TypeAlias = Callable[[Value], Fraction]

NO_FLAGS: Final[frozenset[str]] = frozenset()
SKIP_MALFORMED: Final = frozenset({"skip_malformed"})
UNDECIDED: Final = frozenset({"undecided"})
LOST_TO_FORMAT: Final = frozenset({"lost_to_format"})


class Grade(NamedTuple):
    """A verdict, the extracted text, the step that extracted it, flags, and the partial credit.

    The flag `skip_malformed`: the reply contains the skip token, but neither skips nor is correct. The
    flag `lost_to_format`: strict found no answer, but standard (lenient under the first rules) finds the right one. The
    flag `undecided`: the verdict is wrong because it could be proven neither that the reply is right nor that it is
    not. The share, from 0 to 1, is that of an answer which declares one, for replies that are read; a reply that
    cannot be read as the type, or fails its evaluation, has 0. `inner` is the text inside the Markdown of the
    extracted one, if the verdict rests on it.
    """

    verdict: Verdict
    extracted: str | None
    step: str | None
    flags: frozenset[str] = NO_FLAGS
    share: Fraction | None = None
    inner: str | None = None

    @property
    def is_correct(self) -> bool:
        """Return whether the verdict is correct."""
        return self.verdict is Verdict.CORRECT


OTHER_PROGRAM = "the bundle or the run was made by another program, or changed afterwards; get a new copy"
NEWER = "a newer version of dia may have made the bundle; update dia, or compile the bundle again"


def malformed_record(message: str, help: str | None = None) -> DiaError:
    """Return the error for an answer record that cannot be used: exit code 3."""
    return DiaError(Diagnostic("E822", visible(message), None, help or OTHER_PROGRAM), 3)


class Grader:
    """Grades replies to the instances of one template with one chain of an answer format."""

    def __init__(
        self,
        comparison: Mapping[str, Any],
        format: Mapping[str, Any],
        chain: str = STANDARD,
        answer: AnswerType | None = None,
    ) -> None:
        """Raises DiaError for a format, chain or comparison that this version does not know.

        `answer` is the type of the comparison, if the caller already has it.
        """
        self.form = _entry(format.get("kind"), FORMATS, "answer format")
        if errors := self.form.faults(format):
            raise DiaError(Diagnostic("E821", visible(errors[0]), None, NEWER), 3)
        _entry(chain, {STANDARD: (), **self.form.chains}, "chain")
        self.format, self.chain = format, effective_chain(chain, format)
        self.is_verbatim = self.chain in self.form.verbatim
        self.extract = self.form.reader(format, self.chain)
        # Since rules 2, lenient reading goes on to the next step if it cannot read a text.
        self.is_readable = self._is_readable if self.chain == "lenient" and rules_of(format) >= 2 else None
        self.mode = mode_of(self.chain, format)
        self.skip: str = format.get("skip") or ""
        self.has_condition, self.has_share = "accept_if" in comparison, "share" in comparison
        self.is_unanswerable = comparison.get("unanswerable") is True
        self.answer, self.comparison = answer or typed(comparison), comparison
        self.checked_truth: Value = object()  # the truth that was last found to have the answer's type

    def grade(
        self,
        truth: Value,
        accept: Sequence[Value],
        text: str,
        reply: str | None,
        accept_if: Condition | None = None,
        share: Share | None = None,
    ) -> Grade:
        """Grade a reply to the instance with this correct answer, these accepted forms and this canonical text.

        `accept_if` and `share` are those of an answer whose comparison has them; each is called with the typed reply.
        """
        reset()  # each reply has its own budget
        if reply is None:
            return Grade(Verdict.WRONG if self.is_verbatim else Verdict.ERROR, None, None)
        text_of_answer, step = self.extract(reply, self.is_readable)
        part, flags, inner = None, NO_FLAGS, None
        if text_of_answer is None:
            verdict = Verdict.UNPARSED
            tolerant = self._tolerant
            if tolerant is not None and tolerant.grade(truth, accept, text, reply, accept_if, share).is_correct:
                flags = LOST_TO_FORMAT
        elif self.is_verbatim:
            verdict = self._compared(text_of_answer, text)
            if self.has_share and verdict is Verdict.CORRECT:
                part = Fraction(1) if self.is_unanswerable else self._share(share, self._value(text))
        else:
            first, *others = readable_texts(text_of_answer, self.chain, self.format)
            verdict, flags, part = self._read(first, truth, accept, accept_if, share)
            for text_inside in others if verdict not in SETTLED else ():
                other = self._read(text_inside, truth, accept, accept_if, share)
                if other[0] in SETTLED or (other[2] or 0) > (part or 0):
                    inner, (verdict, flags, part) = text_inside, other
        if verdict not in SETTLED and self.skip and self.skip in reply:
            flags = flags | SKIP_MALFORMED
        return Grade(verdict, text_of_answer, step, flags, part, inner)

    def _read(
        self,
        answer_text: str,
        truth: Value,
        accept: Sequence[Value],
        accept_if: Condition | None,
        share: Share | None,
    ) -> tuple[Verdict, frozenset[str], Fraction | None]:
        """Return the verdict on the answer's text, its flags and its partial credit."""
        if answer_text == self.skip and self.skip:
            full = Fraction(1) if self.is_unanswerable and self.has_share else None
            return self._abstention, NO_FLAGS, full
        if self.is_unanswerable:
            return Verdict.WRONG, NO_FLAGS, Fraction(0) if self.has_share else None
        value = self._value(answer_text)
        part = self._share(share, value) if self.has_share else None
        if value is None:
            return Verdict.WRONG, NO_FLAGS, part
        if self.has_condition:
            return Verdict.CORRECT if _holds(accept_if, value) else Verdict.WRONG, NO_FLAGS, part
        flags = NO_FLAGS
        for form in (truth, *accept):
            try:
                if self._equals(value, form):
                    return Verdict.CORRECT, NO_FLAGS, part
            except Undecided:
                flags = UNDECIDED
        return Verdict.WRONG, flags, part

    def _is_readable(self, answer_text: str) -> bool:
        """Return whether the text is the skip token or a value of the type, also without the Markdown around it."""
        texts = readable_texts(answer_text, self.chain, self.format)
        return any((text == self.skip and bool(self.skip)) or self._value(text) is not None for text in texts)

    @cached_property
    def _tolerant(self) -> Grader | None:
        """Return the grader that shows whether a reply that strict cannot parse is correct apart from its format."""
        chain = "lenient" if rules_of(self.format) < 2 else STANDARD
        if self.chain != "strict" or chain not in (STANDARD, *self.form.chains):
            return None
        return Grader(self.comparison, self.format, chain, self.answer)

    @property
    def _abstention(self) -> Verdict:
        """Return the verdict on the skip token."""
        return Verdict.CORRECT if self.is_unanswerable else Verdict.SKIPPED

    def _compared(self, answer_text: str, text: str) -> Verdict:
        if answer_text == self.form.wrap(text, self.format):
            return Verdict.CORRECT
        return Verdict.SKIPPED if self.skip and answer_text == self.form.wrap(self.skip, self.format) else Verdict.WRONG

    def _value(self, answer_text: str) -> Value | None:
        """Return the typed value of an answer's text; None if it is not a value of the type."""
        try:
            return self.answer.read(answer_text, self.mode) if len(answer_text) <= CHARACTERS else None
        except Unreadable:
            return None

    def _share(self, share: Share | None, value: Value | None) -> Fraction:
        """Return the partial credit, if the answer declares one."""
        if share is None:
            raise ValueError("the comparison has a `share`: pass its compiled function")
        try:
            return Fraction(0) if value is None else share(value)
        except (LanguageError, DiaError):
            return Fraction(0)

    def _equals(self, value: Value, form: Value) -> bool:
        if form is not self.checked_truth and not self.answer.holds(form):
            message = "a stored answer or accepted form is of another type than its comparison"
            raise malformed_record(message)
        self.checked_truth = form
        return self.answer.equal(value, form)


def typed(comparison: Mapping[str, Any]) -> AnswerType:
    """Return the answer type of a stored comparison. Raises DiaError (exit 3) if it is malformed."""
    try:
        return answer_type(comparison)
    except LanguageError as error:
        raise malformed_record(error.message, error.help) from None


_Held = TypeVar("_Held")
SETTLED = (Verdict.CORRECT, Verdict.SKIPPED)


def grade(
    answer: Mapping[str, Any],
    reply: str | None,
    format: Mapping[str, Any],
    chain: str = STANDARD,
    accept_if: Condition | None = None,
    share: Share | None = None,
) -> Grade:
    """Grade a reply, given the answer record and the answer format of its question.

    `accept_if` and `share` replace those of the record. Raises DiaError if this version does not know the record's
    types, the format or the chain.

    >>> record = {"answer": 12, "accept": [], "text": "12", "comparison": {"type": "integer"}}
    >>> grade(record, "<xml> 12 </xml>", {"kind": "xml", "skip": "I-DO-NOT-KNOW"}).verdict
    'correct'
    """
    comparison = answer["comparison"]
    grader = Grader(comparison, format, chain)
    if grader.has_condition and accept_if is None:
        from dia_language.stored.stored_conditions import condition

        accept_if = condition(comparison["accept_if"])
    if grader.has_share and share is None:
        from dia_language.stored.stored_conditions import share as stored_share

        share = stored_share(comparison["share"])
    try:
        truth, accept = decode(answer["answer"]), [decode(form) for form in answer.get("accept", ())]
    except ValueError:
        raise malformed_record("an answer record contains an invalid value") from None
    return grader.grade(truth, accept, answer["text"], reply, accept_if, share)


def _entry(name: Any, table: Mapping[str, _Held], what: str) -> _Held:
    if isinstance(name, str) and name in table:
        return table[name]
    quoted = visible(str(name)[:60])
    help = did_you_mean(quoted, table) or f"the choices are {', '.join(table)}"
    raise DiaError(Diagnostic("E821", f"unknown {what} `{quoted}`", None, help))


def _holds(accept_if: Condition | None, value: Value) -> bool:
    if accept_if is None:
        raise ValueError("the comparison has an `accept_if`: pass its compiled condition")
    try:
        return accept_if(value)
    except (LanguageError, DiaError):
        return False
