"""Draw parameters from a prepared template: item by item, position by position. The results never change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from math import factorial, prod
from typing import Any

from dia_compiler.analyze.domains import Maker, Scope, truth_of
from dia_compiler.analyze.items import Item, items_of
from dia_compiler.analyze.plan import Prepared, Step
from dia_compiler.sampling.boundary_first import FREE, INTERIOR, Row, edge_rows, pair_rows, single_rows
from dia_compiler.sampling.degrees_of_freedom import ENUMERATED, Freedom, count_ways, estimate_ways, is_static
from dia_compiler.sampling.instance_tree import (
    ATTEMPTS,
    ORDER,
    Exhausted,
    RecordingChoose,
    Stream,
    Walker,
    derived,
    template_key,
)
from dia_compiler.types.base import Domain, key_of
from dia_compiler.types.choices import VAST, Rejected
from dia_compiler.types.ranks import permutation
from dia_language.budgets import note_spent, spent
from dia_language.diagnostics import DiaError, Diagnostic, LanguageError, Position
from dia_language.expressions.expressions import CompiledExpression
from dia_language.numbers.values import Entry, Value, kind_of, plain
from dia_language.workers.heartbeat import begin_search, end_evaluation, end_search, note_failure

SHOWN_PARAMETERS = 200  # characters
SHOWN_VALUE = (200, 80, 40, 20, 10)  # characters of each, so that one long value does not hide the others
MEASURED_ITEMS = 50
FRONT_ATTEMPTS = 50
FRONT_PAIRS = 400
MOST_OPTIONS = 26
SAMPLES = 8  # draws from which it is seen what the beginning of a draw fixes
COSTLY_STEPS = 200  # steps of a condition from which a table lookup is cheaper
MOST_FAILURES = 20_000
DRAWING = 1  # the version of drawing; another version gives other instances

# How a value of a parameter is found: by its step, its domain and the choices.
Pick = Callable[[Step, Domain, Any], Value]


class Drawing:
    """Draws the parameters of one prepared template under one seed."""

    def __init__(self, prepared: Prepared, seed: str) -> None:
        self.prepared = prepared
        self.lists: Scope = {name: code.evaluate({}) for name, code in prepared.lists.items()}
        self.key = template_key(DRAWING, prepared.benchmark.name, prepared.template.name, seed)
        self.each = prepared.template.each.text if prepared.template.each else None
        self.constants: dict[str, tuple[Value, int]] = {}  # let values that no parameter changes, and their steps
        # failures of costly conditions: the condition, the values, and the steps it took
        self.costly_failures: dict[tuple[Any, ...], tuple[CompiledExpression, Scope, int]] = {}
        self.draws_to_failure: set[int] = set()  # how many parameters each of them had drawn
        self.drawn = self.rejected = 0
        self.failures: Counter[int] = Counter()  # of conditions, by the number of their code
        self.refusals: Counter[str] = Counter()  # of types that accepted none of their values, by parameter
        self.last_failure: tuple[CompiledExpression, Scope] | None = None
        self.rejected_scope: Scope = {}
        self.dead_ends = 0  # beginnings of draws that no attempt completed
        self.dead_end = ""  # the values that the first of them fixes

    # one draw

    def draw(self, choose: Any, fixed: Mapping[str, Value], pick: Pick | None = None) -> Scope:
        """Draw parameters, except `fixed` ones, and the let values the draw needs. Raises Rejected and DiaError."""
        scope: Scope = dict(self.lists)
        try:
            begin, draws = spent(), 0
            for step in self.prepared.plan:
                if step.kind == "where":
                    self.hold(step, scope, choose, begin)
                    continue
                self.do(step, scope, choose, fixed, pick)
                if self.is_filtered and step.kind == "draw":
                    begin, draws = spent(), draws + 1
                    if draws in self.draws_to_failure:
                        self.refuse_again(scope, choose)
        except Rejected:
            self.rejected_scope = scope
            raise
        except DiaError as error:
            raise self.with_values(error, scope) from None
        return scope

    def do(self, step: Step, scope: Scope, choose: Any, fixed: Mapping[str, Value], pick: Pick | None = None) -> None:
        """Perform one step of a plan in the scope."""
        if step.kind == "draw":
            scope[step.name] = fixed[step.name] if step.name in fixed else self.value(step, scope, choose, pick)
        elif step.kind == "balance":
            choose.balance()
        elif step.kind == "order":
            scope[ORDER] = self.order(scope, choose)
        elif step.kind == "constant":
            scope[step.name] = self.constant(step, scope)
        else:
            assert step.code is not None
            value = step.code(scope)
            if step.kind == "let":
                scope[step.name] = value
            elif truth_of(value, step.code.parsed.source):
                choose.check(True)
            else:
                self.refuse(step.code, scope, choose)

    def refuse(self, code: CompiledExpression, scope: Scope, choose: Any) -> None:
        """Reject a draw that fails the condition."""
        self.failures[code.number] += 1
        note_failure(code.number)
        self.last_failure = code, scope
        choose.check(False)

    def hold(self, step: Step, scope: Scope, choose: Any, begin: int) -> None:
        """Test a condition; `begin` is the number of steps spent before the last parameter was drawn.

        A costly failure is remembered, because small domains give the same values again and again.
        """
        try:
            self.do(step, scope, choose, {})
        except Rejected:
            steps = spent() - begin
            if steps >= COSTLY_STEPS and len(self.costly_failures) < MOST_FAILURES:
                assert step.code is not None
                key = self.drawn_key(scope)
                self.costly_failures[key] = step.code, scope, steps
                self.draws_to_failure.add(len(key))
            raise

    def refuse_again(self, scope: Scope, choose: Any) -> None:
        """Reject a draw whose parameters are known to fail a condition, without computing it again."""
        failure = self.costly_failures.get(self.drawn_key(scope))
        if failure is not None:
            code, failed_scope, steps = failure
            note_spent(steps)
            self.refuse(code, failed_scope, choose)

    def drawn_key(self, scope: Scope) -> tuple[Any, ...]:
        """Return a key that is equal for two draws with the same parameters so far."""
        return tuple(key_of(scope[name]) for name in self.prepared.makers if name in scope)

    def constant(self, step: Step, scope: Scope) -> Value:
        """Return a let value that is the same for all draws.

        Its steps are charged each time, as the count of ways expects.
        """
        if step.name not in self.constants:
            assert step.code is not None
            begin = spent()
            value = step.code(scope)
            self.constants[step.name] = value, spent() - begin
            return value
        value, steps = self.constants[step.name]
        note_spent(steps)
        return value

    def value(self, step: Step, scope: Scope, choose: Any, pick: Pick | None = None) -> Value:
        """Return a drawn value of the step's parameter. Raises Rejected, and DiaError at the parameter's type."""
        maker = step.maker
        assert maker is not None
        domain = maker.constant_domain or maker.make(scope)
        end_evaluation()
        try:
            return domain.draw(choose) if pick is None else pick(step, domain, choose)
        except Rejected:
            self.refusals[step.name] += 1
            raise
        except LanguageError as error:
            raise DiaError(Diagnostic(error.code, error.message, maker.use.position, error.help)) from None

    def order(self, scope: Scope, choose: Any) -> list[int]:
        """Return the order of the options of a multiple choice: indices into the correct option and the distractors."""
        options = self.prepared.options
        assert options is not None
        distractors = options.distractors(scope)
        most = MOST_OPTIONS - 1 - (options.choices.skip is not None)  # one letter each, from A to Z
        if not isinstance(distractors, list) or not 1 <= len(distractors) <= most:
            message = f"`distractors` must be a list of 1 to {most} values"
            raise DiaError(Diagnostic("E203", message, options.choices.distractors.position))
        places = list(range(len(distractors) + 1))
        if not options.choices.is_shuffled:
            return places
        return permutation(choose.below(factorial(len(places))), places)

    # items and their positions

    @cached_property
    def items(self) -> list[Item]:
        """The items in their order. Raises DiaError if the values of `each` cannot be listed."""
        if self.each is None:
            return [Item()]
        assert self.prepared.template.each is not None
        maker = self.prepared.makers[self.each]
        begin_search()
        try:
            return items_of(maker.make(dict(self.lists)), self.prepared.template.each.position)
        finally:
            end_search()

    def fixed(self, item: Item) -> dict[str, Value]:
        """Return the parameters that the item fixes."""
        return {} if self.each is None else {self.each: item.value}

    def key_for(self, item: Item) -> bytes:
        """Return the key that determines all instances of the item."""
        return self.key if self.each is None else derived(self.key, "item", item.name)

    def walker(self, item: Item, identities: Container[Any] = ()) -> Walker[Scope]:
        """Return the positions of the item after those of boundary values.

        What follows a balanced parameter is drawn again if it repeats one of the identities.
        """
        fixed = self.fixed(item)

        def is_new(scope: Scope) -> bool:
            return not identities or self.identity(scope) not in identities

        def on_dead_end(path: tuple[int, ...], key: bytes) -> None:
            self.dead_ends += 1
            self.dead_end = self.dead_end or self.dead_end_text(path, key, fixed)

        return Walker(self.key_for(item), lambda choose: self.draw(choose, fixed), ATTEMPTS, is_new, on_dead_end)

    def has_choices(self, item: Item) -> bool:
        """Return whether anything is drawn for the item; an item without choices is static."""
        if not self.prepared.makers and self.prepared.options is None:
            return False
        if self.each is None:
            return True
        fixed = self.fixed(item)
        return not is_static(lambda choose: self.draw(choose, fixed))

    def positions(self, item: Item, can_repeat: bool = False) -> Iterator[tuple[int, Scope]]:
        """Position and parameters of every instance of the item in order.

        `can_repeat` says whether different positions may have the same parameters.
        """
        front = self.front(item) if self.prepared.template.is_boundary_first else []
        for place, scope in enumerate(front):
            if scope is not None:
                yield place, scope
        identities = {self.identity(scope) for scope in front if scope is not None}
        walker = self.walker(item, identities if can_repeat else ())
        try:
            for place, scope in walker.positions():
                identity = self.identity(scope) if identities or can_repeat else None
                if identity not in identities:
                    yield len(front) + place, scope
                if can_repeat:
                    identities.add(identity)
        except Exhausted:
            if can_repeat:
                raise Exhausted("no draw gives another instance") from None
            raise
        finally:
            self.drawn += walker.drawn
            self.rejected += walker.rejected

    def identity(self, scope: Scope) -> Any:
        """Return a key that is equal for two draws only if they are the same."""
        return tuple(key_of(scope[name]) for name in self.prepared.makers), tuple(scope.get(ORDER, ()))

    # boundary values first

    def front(self, item: Item) -> list[Scope | None]:
        """Return the draws of boundary values, then of pairs of classes; None if no draw meets every `where`."""
        return _Front(self, item).scopes()

    # number of instances

    def freedom(self) -> Freedom:
        """Return the degrees of freedom d(t): of the template, or the smallest of its items."""
        begin_search()
        try:
            return self.freedom_of_items()
        finally:
            end_search()

    def freedom_of_items(self) -> Freedom:
        """Return the smallest number for the items that are not static.

        Items with fixed domains and without conditions are alike.
        """
        alike = self.is_known and not self.is_filtered and self.prepared.options is None
        freedoms: list[Freedom] = []
        for place, item in enumerate(self.items):
            if place and (alike or place > MEASURED_ITEMS):
                break
            if self.has_choices(item):
                freedoms.append(self.freedom_of(item))
        if not freedoms:
            return Freedom("exact", 1)
        is_whole = alike or len(self.items) <= MEASURED_ITEMS + 1
        counted = [freedom for freedom in freedoms if freedom.count is not None]
        if not counted:
            return freedoms[0]
        least = min(counted, key=lambda freedom: freedom.count or 0)
        return least if is_whole else Freedom("at_least", 1)

    @cached_property
    def is_filtered(self) -> bool:
        """Whether there are conditions over parameters."""
        return any(step.kind == "where" for step in self.prepared.plan)

    @property
    def is_known(self) -> bool:
        """Whether the domains do not depend on anything drawn."""
        return all(maker.is_fixed for name, maker in self.prepared.makers.items() if name != self.each)

    def freedom_of(self, item: Item) -> Freedom:
        """Return how many different instances the item has."""
        fixed = self.fixed(item)
        varied = {name: maker for name, maker in self.prepared.makers.items() if name not in fixed}
        domains = [maker.make(dict(self.lists)) for maker in varied.values() if maker.is_fixed]
        product = prod(domain.count for domain in domains)
        if product > VAST or (not self.is_known and self.first_product(item) > VAST):
            return Freedom("vast")
        has_options = self.prepared.options is not None
        is_known = self.is_known and not has_options
        if is_known and not self.is_filtered and all(domain.is_counted for domain in domains):
            return Freedom("exact", product)
        can_count = product <= ENUMERATED if is_known else not self.are_surely_many(list(varied.values()))
        total = self.counted(fixed) if can_count else None
        if total is not None:
            return Freedom("exact", total)
        if is_known:
            return Freedom("at_most", product)
        return Freedom("at_least", 0 if self.is_filtered else product)

    def are_surely_many(self, makers: list[Maker]) -> bool:
        """Whether a count would find too many ways and no failure: for parameters that depend only on lists."""
        if any(step.kind != "draw" for step in self.prepared.plan) or not all(map(self.is_of_lists, makers)):
            return False
        domains = [maker.make(dict(self.lists)) for maker in makers]
        return all(domain.is_counted for domain in domains) and prod(domain.count for domain in domains) > ENUMERATED

    def is_of_lists(self, maker: Maker) -> bool:
        """Return whether a parameter's domain depends only on lists and has no condition."""
        is_plain = not maker.calls and not maker.where and not maker.has_inner_conditions
        return is_plain and all(use.name in self.lists for _, use in maker.uses)

    def counted(self, fixed: Mapping[str, Value]) -> int | None:
        """Return the number of ways through all choices, or None if they are too many."""
        last = self.prepared.plan[-1]

        def pick(step: Step, domain: Domain, choose: Any) -> Value:
            if step is last and domain.is_counted:
                choose.count_of_last = domain.count
            return domain.draw(choose)

        return count_ways(lambda choose: self.draw(choose, fixed, pick))

    def estimated(self) -> tuple[int, int] | None:
        """Return the estimated number of instances of a template without items, and the number of draws made.

        None if the number is known exactly, is vast, or cannot be estimated. Only screens show it.
        """
        if len(self.items) != 1 or not self.has_choices(self.items[0]):
            return None
        fixed = self.fixed(self.items[0])
        begin_search()
        try:
            return estimate_ways(lambda choose: self.draw(choose, fixed))
        finally:
            end_search()

    def first_product(self, item: Item) -> int:
        """Return the product of the sizes of all domains as the first instance sees them."""
        try:
            scope = self.walker(item).at(0)
        except Exhausted:
            scope = None
        if scope is None:
            return 0
        return prod(maker.make(dict(scope)).count for maker in self.prepared.makers.values())

    # telling

    def dead_end_text(self, path: tuple[int, ...], key: bytes, fixed: Mapping[str, Value]) -> str:
        """Return the values that the path fixes, all of whose draws are rejected, or what it fixes a part of."""
        before = self.fixed_names(path[:-1], key, fixed)
        names = self.fixed_names(path, key, fixed)
        scope = self.rejected_scope
        if len(names) > len(before):
            return ", ".join(f"{name} = {value_text(scope[name])}" for name in names)
        others = [name for name in self.prepared.makers if name not in fixed and name not in names]
        return f"some beginnings of `{others[0]}`, which may fix its size or form" if others else ""

    def fixed_names(self, path: tuple[int, ...], key: bytes, fixed: Mapping[str, Value]) -> list[str]:
        """Return the parameters that are the same in all draws that begin with the path."""
        scopes: list[Scope] = []
        for number in range(SAMPLES):
            try:
                scopes.append(self.draw(RecordingChoose(path, Stream(derived(key, "dead end", number))), fixed))
            except Rejected:
                scopes.append(self.rejected_scope)
            except DiaError:
                return []
        names = [name for name in self.prepared.makers if name not in fixed and all(name in scope for scope in scopes)]
        return [name for name in names if len({key_of(scope[name]) for scope in scopes}) == 1]

    def strictest_condition(self) -> Position | None:
        """Return the `where` that failed most often so far; None if none failed."""
        failures = self.failures.most_common(1)
        return self.prepared.places.get(failures[0][0]) if failures else None

    def strictest_type(self) -> str | None:
        """Return the parameter whose type rejected its own values more often than any `where` failed, if any.

        Types of later parameters are only tried once the earlier ones are drawn.
        """
        most = max(self.failures.values(), default=0)
        return next((name for name, times in self.refusals.most_common(1) if times > most), None)

    def with_values(self, error: DiaError, scope: Scope) -> DiaError:
        """Return the failure with the parameters of the draw."""
        diagnostics = [
            replace(entry, message=f"{entry.message}{self.parameters_text(scope, entry.message)}")
            for entry in error.diagnostics
        ]
        return DiaError(diagnostics, error.exit_code)

    def parameters_text(self, scope: Scope, message: str = "") -> str:
        """Return the parameters as the message shows them.

        A message such as "`next_prime` needs an integer as `n`" names an argument. A parameter may have the same name.
        """
        values = {name: value_text(scope[name]) for name in self.prepared.makers if name in scope}
        for most in SHOWN_VALUE:
            text = ", ".join(f"{name} = {cut(value, most)}" for name, value in values.items())
            if len(text) <= SHOWN_PARAMETERS:
                break
        else:
            text = text[:SHOWN_PARAMETERS].rpartition(", ")[0] + ", ..."
        whose = "the template's " if any(f"`{name}`" in message for name in values) else ""
        return f" (where {whose}{text})" if text else ""


def value_text(value: Value) -> str:
    """Return a value as people read it."""
    try:
        return plain(value)
    except LanguageError:
        if isinstance(value, bytes):
            return value.hex()
        if isinstance(value, Entry):
            fields = ", ".join(f"{name}: {value_text(part)}" for name, part in value.values.items())
            return f"{value.name}({fields})"
        return f"[{', '.join(map(value_text, value))}]" if isinstance(value, list) else f"({kind_of(value)})"


def cut(text: str, most: int = 80) -> str:
    """Return the text, or its start."""
    return text if len(text) <= most else f"{text[:most]}..."


class _Front:
    """The draws that come first with `fuzz: {first: boundary}`."""

    def __init__(self, drawing: Drawing, item: Item) -> None:
        self.drawing, self.fixed, self.key = drawing, drawing.fixed(item), drawing.key_for(item)
        self.names = [name for name in drawing.prepared.makers if name not in self.fixed]
        self.drawn_scopes: list[Scope | None] = []
        self.identities: set[Any] = set()
        self.covered: set[tuple[int, int, bool, bool]] = set()
        self.classes: dict[str, bool] = {}
        first = drawing.walker(item).at(0)
        self.edges = [] if first is None else [self.edge_count(name, first) for name in self.names]

    def edge_count(self, name: str, scope: Scope) -> int:
        return len(self.drawing.prepared.makers[name].make(dict(scope)).boundary())

    def scopes(self) -> list[Scope | None]:
        """Yield one draw per row; pairs of rows that could not be drawn are then tried one by one."""
        for row in edge_rows(self.edges):
            if not self.add(row):
                for alone in single_rows(self.edges, row):
                    self.add(alone)
        for row in pair_rows(self.edges):
            self.add(row)
        self.add_missing_pairs()
        return self.drawn_scopes

    def add_missing_pairs(self) -> None:
        """Try each pair of classes that conditions have excluded from the rows, with everything else free."""
        varied = [at for at, size in enumerate(self.edges) if size]
        tried = 0
        for one, other in combinations(varied, 2):
            for classes in ((True, True), (True, False), (False, True), (False, False)):
                if (one, other, *classes) not in self.covered and tried < FRONT_PAIRS:
                    tried += 1
                    places = dict(zip((one, other), classes, strict=True))
                    self.add(tuple(
                        (0 if places[at] else INTERIOR) if at in places else FREE for at in range(len(self.edges))
                    ))  # fmt: skip

    def add(self, row: Row) -> bool:
        """Return whether a draw of the row meets every `where`; it is kept unless it was drawn before."""
        scope = self.drawn(row)
        if scope is None:
            self.drawn_scopes.append(None)
            return False
        self.note(scope)
        identity = self.drawing.identity(scope)
        self.drawn_scopes.append(None if identity in self.identities else scope)
        self.identities.add(identity)
        return True

    def drawn(self, row: Row) -> Scope | None:
        places = dict(zip(self.names, row, strict=True))

        def pick(step: Step, domain: Domain, choose: Any) -> Value:
            return self.picked(places[step.name], step.name, domain, choose)

        for attempt in range(FRONT_ATTEMPTS):
            choose = RecordingChoose((), Stream(derived(self.key, "front", len(self.drawn_scopes), attempt)))
            try:
                return self.drawing.draw(choose, self.fixed, pick)
            except Rejected:
                continue
        return None

    def picked(self, place: int | None, name: str, domain: Domain, choose: Any) -> Value:
        """Return a boundary value, a value of the interior (if there is one), or any value."""
        edges = domain.boundary()
        keys = {key_of(edge) for edge in edges}
        if place is not None and place != FREE and edges:
            value = edges[place % len(edges)]
        else:
            value = domain.draw(choose)
            for _ in range(0 if place == FREE else 20):
                if key_of(value) not in keys:
                    break
                value = domain.draw(choose)
        self.classes[name] = key_of(value) in keys
        return value

    def note(self, scope: Scope) -> None:
        """Record which pairs of classes the draw covers."""
        for one, other in combinations(range(len(self.names)), 2):
            classes = (self.classes[self.names[one]], self.classes[self.names[other]])
            self.covered.add((one, other, *classes))
