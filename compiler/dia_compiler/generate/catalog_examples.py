"""The worked examples of catalog entries: texts for which the face `holds` is true or false."""

from __future__ import annotations

from collections.abc import Iterator

from dia_compiler.analyze.domains import compile_datum
from dia_compiler.generate.expand import Expansion
from dia_compiler.parse.model import Catalog, CatalogEntry, Datum
from dia_compiler.sampling.instance_tree import RecordingChoose, Stream, derived
from dia_compiler.types.choices import Rejected
from dia_language.diagnostics import DiaError, Diagnostic, Diagnostics, LanguageError
from dia_language.numbers.operators import truth
from dia_language.numbers.values import Entry, Record, Value, plain

DRAWS = 3
FACE = "holds"


def check_entry_examples(expansion: Expansion, diagnostics: Diagnostics) -> None:
    """Report every example of an entry that fails, for some draws of the entry's parameters."""
    prepared = expansion.prepared
    for shared in (prepared.benchmark.shared, prepared.template.shared):
        for catalog in shared.catalogs:
            for entry in catalog.entries:
                for datum, expected in _expected(entry):
                    try:
                        _check(expansion, catalog, entry, datum, expected)
                    except DiaError as error:
                        diagnostics.entries.extend(error.diagnostics)


def _expected(entry: CatalogEntry) -> Iterator[tuple[Datum, bool]]:
    yield from ((datum, True) for datum in entry.holds)
    yield from ((datum, False) for datum in entry.fails)


def _check(expansion: Expansion, catalog: Catalog, entry: CatalogEntry, datum: Datum, expected: bool) -> None:
    """Raise DiaError if the face does not return what the example says."""
    arity = next((len(face.arguments) for face in catalog.faces if face.name == FACE), None)
    if arity != 1:
        message = f"examples of entries need a face `{FACE}` with one argument"
        raise DiaError(Diagnostic("E507", message, datum.position, "write the faces as {holds(t): expression, ...}"))
    argument = compile_datum(datum.node, expansion.prepared.namespace, frozenset()).evaluate({})
    holds = expansion.prepared.namespace.globals[f"_o_{FACE}"]
    for number in range(DRAWS):
        drawn = Entry(catalog.name, entry.name, _values(expansion, catalog, entry, number))
        try:
            actual = truth(holds(dict(expansion.lists), argument, drawn))
        except LanguageError as error:
            raise DiaError(Diagnostic(error.code, error.message, datum.position, error.help)) from None
        if actual is not expected:
            values = ", ".join(f"{name} = {plain(value)}" for name, value in drawn.values.items())
            words = f"`{FACE}` is {str(actual).lower()} here" + (f" (where {values})" if values else "")
            raise DiaError(Diagnostic("E507", words, datum.position))


def _values(expansion: Expansion, catalog: Catalog, entry: CatalogEntry, number: int) -> Record:
    """Return a draw of the entry's parameters, the same for the same number."""
    makers = expansion.prepared.entry_makers[(catalog.name, entry.name)]
    scope: dict[str, Value] = dict(expansion.lists)
    choose = RecordingChoose((), Stream(derived(b"", "entry example", catalog.name, entry.name, number)))
    try:
        return Record((name, maker.make(scope).draw(choose)) for name, maker in makers.items())
    except Rejected:
        message = f"no values of the parameters of `{entry.name}` satisfy its `where`"
        raise DiaError(Diagnostic("E507", message, entry.position)) from None
