"""The worked examples of a template, which are its unit tests."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from dia_compiler.analyze.domains import Maker, Scope, compile_datum
from dia_compiler.analyze.items import Item
from dia_compiler.generate.bundle_rows import answer_record
from dia_compiler.generate.catalog_examples import check_entry_examples
from dia_compiler.generate.draw import value_text
from dia_compiler.generate.expand import Draft, Expansion, Instance
from dia_compiler.parse.model import Datum, Example
from dia_compiler.sampling.instance_tree import RecordingChoose, Stream, derived
from dia_compiler.types.base import expression_help
from dia_compiler.types.choices import Rejected
from dia_language.answers.base import Unreadable
from dia_language.diagnostics import DiaError, Diagnostics, LanguageError, Position, names_help
from dia_language.numbers.values import Entry, Record, Value, described, plain
from dia_language.workers.heartbeat import begin_search, end_search
from dia_language.yaml_nodes import Scalar, data
from dia_runtime.formats import FORMATS
from dia_runtime.formats.base import STANDARD, mode_of, readable_texts
from dia_runtime.grading.grader import SETTLED, Grade, grade
from dia_runtime.grading.verdicts import Verdict


def check_examples(expansion: Expansion, diagnostics: Diagnostics) -> None:
    """Report every example of the template that fails."""
    for number, example in enumerate(expansion.prepared.template.examples):
        try:
            _check_example(expansion, example, number, diagnostics)
        except DiaError as error:
            diagnostics.entries.extend(error.diagnostics)
    check_entry_examples(expansion, diagnostics)


def _check_example(expansion: Expansion, example: Example, number: int, diagnostics: Diagnostics) -> None:
    scope = _drawn(expansion, example, number, diagnostics)
    if scope is None:
        return
    instance = expansion.instance(Draft(_item(expansion, scope), number, 0, scope))
    answer = example.answer if instance.rendered_sessions is None else None
    if answer is not None and not _equals(expansion, answer, instance):
        options = instance.grading.options
        returned = instance.text if options is None else f"{instance.text} ({options.texts[instance.text]})"
        expected, help = _datum_text(answer), None
        if isinstance(answer.node, Scalar) and not isinstance(instance.answer, str):
            help = expression_help(_evaluated(answer, expansion))
            if expected == returned:
                expected, returned = f"the text `{expected}`", f"{described(instance.answer)}, {returned}"
                help = help or ("remove the quotes" if answer.node.style else None)
        message = f"the example's answer is {expected}, but the template's answer is {returned}"
        diagnostics.error("E507", message, answer.position, help)
    record = answer_record(instance, expansion, "example", None)
    session_plan, spec = expansion.prepared.session_plan, expansion.prepared.template.session_spec
    if session_plan is not None and spec is not None:
        from dia_compiler.generate.session_examples import check_replies  # slow, and needed by few templates

        check_replies(session_plan, record, spec.examples[number], diagnostics)
        return
    for datum in example.accepts:
        _expect(expansion, instance, record, datum, Verdict.CORRECT, diagnostics, _brackets(example.accepts, instance))
    for datum in example.rejects:
        _expect(expansion, instance, record, datum, Verdict.WRONG, diagnostics)
    brackets = _brackets(example.rejects, instance)
    if brackets and "flat-examples" not in expansion.prepared.template.allow:
        message = "each value of `rejects` is a separate wrong reply, so these are read as lists of one element"
        help = f"{brackets}, or allow it: `allow: {{flat-examples: reason}}`"
        diagnostics.warn("flat-examples", message, example.rejects[0].position, help)
    for verdict, replies in example.replies.items():
        for scalar in replies:
            _require_verdict(instance, record, scalar.text, verdict, scalar.position, diagnostics, example.chain)


def _brackets(listed: tuple[Datum, ...], instance: Instance) -> str | None:
    """Return the help for replies of one element each in place of one list, or None if they are not that."""
    is_list = isinstance(instance.answer, list) and len(instance.answer) > 1
    if not is_list or len(listed) < 2 or not all(_has_one_element(datum, instance) for datum in listed):
        return None
    return f"if they are one reply, write [[{', '.join(map(_datum_text, listed))}]]"


def _has_one_element(datum: Datum, instance: Instance) -> bool:
    try:
        value = instance.grading.kind.read(datum.node.text, "lenient") if isinstance(datum.node, Scalar) else None
    except (LanguageError, Unreadable):
        return False
    return isinstance(value, list) and len(value) == 1


def _item(expansion: Expansion, scope: Scope) -> Item:
    each = expansion.drawing.each
    return Item("example", scope[each]) if each is not None else Item()


def _drawn(expansion: Expansion, example: Example, number: int, diagnostics: Diagnostics) -> Scope | None:
    """Return the scope of the example: its parameters fixed, the others drawn."""
    makers = expansion.prepared.makers
    unknown = [name for name in example.params if name not in makers]
    for name in unknown:
        message = f"the example sets `{name}`, which is not a parameter"
        diagnostics.error("E303", message, example.params[name].position, names_help(name, makers))
    fixed = {
        name: typed(compile_datum(datum.node, expansion.prepared.namespace, frozenset()).evaluate({}), makers[name])
        for name, datum in example.params.items()
        if name in makers
    }
    settled = {name: value for name, value in fixed.items() if makers[name].is_fixed}
    if not _are_inside(expansion, example, dict(expansion.lists), settled, diagnostics) or unknown:
        return None
    expansion.drawing.last_failure = None
    begin_search()
    # with every parameter fixed, more attempts would give the same
    attempts = 1 if {parameter.name for parameter in expansion.prepared.template.parameters} <= fixed.keys() else 1000
    for attempt in range(attempts):
        choose = RecordingChoose((), Stream(derived(expansion.drawing.key, "example", number, attempt)))
        try:
            scope = expansion.drawing.draw(choose, fixed)
        except Rejected:
            continue
        end_search()
        return scope if _are_inside(expansion, example, scope, fixed, diagnostics) else None
    end_search()
    if _are_inside(expansion, example, dict(expansion.lists) | fixed, fixed, diagnostics):
        diagnostics.error("E507", _failed_condition(expansion), example.position)
    return None


def _failed_condition(expansion: Expansion) -> str:
    """Return the `where` that the last draw failed, with the values in it."""
    if expansion.drawing.last_failure is None:
        return "no values can be drawn for the other parameters of the example"
    code, scope = expansion.drawing.last_failure
    names = dict.fromkeys(use.name for use in code.parsed.names if use.name in scope)
    values = ", ".join(f"{name} = {value_text(scope[name])}" for name in names)
    text = " ".join(code.parsed.source.text.split())
    return f"the example's parameters do not satisfy `{text}`" + (f": {values}" if values else "")


def _are_inside(
    expansion: Expansion, example: Example, scope: Scope, fixed: Mapping[str, Value], diagnostics: Diagnostics
) -> bool:
    """Report every value outside its type; return whether there is none."""
    are_inside = True
    for name, value in fixed.items():
        try:
            domain = expansion.prepared.makers[name].make(dict(scope))
            is_member = domain.contains(value)
        except (DiaError, TypeError):
            continue
        if not is_member:
            why = domain.refusal(value)
            message = f"the value of `{name}` is outside its type" + (f": {why}" if why else "")
            help = None if why else "values in examples must be allowed by the template's types"
            if expansion.prepared.makers[name].use.kind in ("integer", "rational", "real"):
                help = expression_help(value) or help
            diagnostics.error("E507", message, example.params[name].position, help)
            are_inside = False
    return are_inside


def typed(value: Value, maker: Maker) -> Value:
    """Return the datum as a value of the maker's type.

    An entry is written {entry: name, parameter: value}, or as its name.
    """
    catalog = maker.use.options.get("of")
    if maker.use.kind == "entry" and isinstance(catalog, Scalar):
        if isinstance(value, Mapping) and "entry" in value:
            values = Record((name, item) for name, item in value.items() if name != "entry")
            return Entry(catalog.text, str(value["entry"]), values)
        return Entry(catalog.text, value, Record()) if isinstance(value, str) else value
    if isinstance(value, list) and len(maker.nested) == 1:
        return [typed(item, maker.nested[0]) for item in value]
    return value


def _equals(expansion: Expansion, datum: Datum, instance: Instance) -> bool:
    value = _evaluated(datum, expansion)
    if (
        isinstance(datum.node, Scalar)
        and instance.grading.comparison.get("type") == "text"
        and not isinstance(value, str)
    ):
        value = datum.node.text
    if instance.grading.is_unanswerable or value == instance.grading.format["skip"]:
        return bool(value == instance.text)
    if instance.grading.options is not None:
        return bool(instance.answer in (value, instance.grading.options.letter_of(value)))
    try:
        return bool(instance.grading.kind.equal(instance.grading.kind.settle(value), instance.answer))
    except LanguageError:
        return False


def _evaluated(datum: Datum, expansion: Expansion) -> Value:
    return compile_datum(datum.node, expansion.prepared.namespace, frozenset()).evaluate({})


def _datum_text(datum: Datum) -> str:
    return datum.node.text if isinstance(datum.node, Scalar) else plain(data(datum.node))


def _expect(
    expansion: Expansion,
    instance: Instance,
    record: Mapping[str, Any],
    datum: Datum,
    verdict: str,
    diagnostics: Diagnostics,
    help: str | None = None,
) -> None:
    """Check that the datum as a reply gets the verdict; a scalar is used as it is written."""
    value = _evaluated(datum, expansion)
    text = datum.node.text if isinstance(datum.node, Scalar) and not isinstance(value, list) else None
    try:
        text = instance.grading.kind.write(value) if text is None or text.startswith("= ") else text
    except LanguageError:
        text = plain(value)
    format = instance.grading.format
    reply = FORMATS[format["kind"]].wrap(text, format)
    _require_verdict(instance, record, reply, verdict, datum.position, diagnostics, help=help)


def _require_verdict(
    instance: Instance,
    record: Mapping[str, Any],
    reply: str,
    verdict: str,
    place: Position,
    diagnostics: Diagnostics,
    chain: Scalar | None = None,
    help: str | None = None,
) -> None:
    form = instance.grading.format
    chains = dict.fromkeys((STANDARD, *FORMATS[str(form["kind"])].chains))
    if chain is not None and chain.text not in chains:
        names = ", ".join(chains)
        diagnostics.error("E507", f"the format has no chain `{chain.text}`", chain.position, f"it has {names}")
        return
    chain_name = STANDARD if chain is None else chain.text
    graded = grade(record, reply, form, chain_name)
    if graded.verdict != verdict:
        by = f" by the chain {chain.text}" if chain is not None else ""
        message = f"this reply is graded {graded.verdict}{by}, but the example says {verdict}"
        reads = _reading(graded, instance, chain_name)
        if graded.extracted is None and verdict != Verdict.UNPARSED:
            is_skip = verdict == Verdict.SKIPPED and form.get("skip")
            what, text = ("abstain", str(form["skip"])) if is_skip else ("give an answer", instance.text)
            help = f"to {what}, a reply can say `{FORMATS[str(form['kind'])].wrap(text, form)}`"
        elif instance.accept_if is not None and {graded.verdict, verdict} == {Verdict.CORRECT, Verdict.WRONG}:
            result = "holds" if graded.verdict == Verdict.CORRECT else "is false, or fails,"
            help = f"`accept_if` alone decides, and it {result} for this reply"
        diagnostics.error("E507", message + reads, place, help)


def _reading(graded: Grade, instance: Instance, chain: str) -> str:
    """Return how a reply was read, as the end of a message on its verdict; nothing if it has no answer."""
    extracted, form, right = graded.extracted, instance.grading.format, f"the answer is `{instance.text}`"
    if extracted is None:
        return ""
    answer_format = FORMATS[str(form["kind"])]
    if chain in answer_format.verbatim:
        whole = answer_format.wrap(instance.text, form)
        return f": this chain compares whole texts; it is read as `{extracted}`, and the answer is `{whole}`"
    if graded.verdict in SETTLED:
        return f": it is read as `{graded.inner or extracted}`, and {right}"
    for text in readable_texts(extracted, chain, form):
        with suppress(Unreadable):
            instance.grading.kind.read(text, mode_of(chain, form))
            return f": it is read as `{text}`, and {right}"
    kind = instance.grading.comparison.get("type")
    return f": it is read as `{extracted}`, which is not a value of the type `{kind}`; {right}"
