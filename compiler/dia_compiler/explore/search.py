"""Boundary search over a template: compile variations, ask them, and vary again until enough items are found.

The items of a round are an ordinary benchmark of varied templates, its bundle one that `dia compile` makes, its replies
a run. A search depends only on its seed and the replies, so that the same command finds the rounds of an interrupted
search and asks what is missing.
"""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from dia_language.confinement.permission import NO
from dia_language.counts import counted
from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_runtime.bundle.atomic_output import temporary_sibling, why_not_written
from dia_runtime.bundle.open import open_bundle
from dia_runtime.bundle.safe_paths import refuse_special_file
from dia_runtime.grading.judge import Judge, Rules
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.psychometrics.boundary.ability import Prior, ability
from dia_runtime.psychometrics.boundary.belief import Forecast, Predictor
from dia_runtime.psychometrics.boundary.search import ACCEPT, ACCEPT_PREDICTED, Item, Plan, Search, TrialRequest
from dia_runtime.psychometrics.boundary.space import Cell
from dia_runtime.psychometrics.features import exact
from dia_runtime.psychometrics.rasch.bank import Bank, BankItem, read_bank, write_bank
from dia_runtime.psychometrics.rasch.bank import as_record as bank_record
from dia_runtime.respondents.respondent import Reply
from dia_runtime.running.run import Progress, RespondentSummary, RunOptions, RunSummary, run
from dia_runtime.store.store import Store, read_store

from dia_compiler.analyze.check import CheckedBenchmark, check
from dia_compiler.explore.variations import Moves, moves_of
from dia_compiler.freeze.fingerprint import digest_of
from dia_compiler.freeze.output import FrozenBundle
from dia_compiler.parse.discover import BENCHMARK_FILE, discover
from dia_compiler.pipeline.api import compile
from dia_compiler.pipeline.phases import SpecFaults
from dia_compiler.sampling.steering import Target, steering_of

STATE, REPORT, BANK = "explore.json", "report.json", "bank.json"
ROUNDS, SPECS, FOUND = "rounds", "specs", "found"
UNASKED = "questions without a reply"
UNITS = ("instances", "items", "templates", "columns")
TEMPLATE = re.compile(rb"^template\s*:", re.MULTILINE)
BEYOND = 20  # trials of an accepted item outside the range of the bank
FAR = 1.0  # logits beyond the hardest or easiest item up to which a bank covers an ability
WIDE = 3.0  # logits: uncertainty of a new item's difficulty before its trials
Z = 1.959963984540054
OnProgress = Callable[[int, int, Progress], None]


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What to explore: the parameters, the model's ability, the plan and the chain.

    `runs` are the runs from which the bank was calibrated; difficulties are explained with them.
    """

    plan: Plan
    moved: tuple[str, ...] = ()
    ability: float | None = None
    runs: tuple[Path, ...] = ()
    chain: str = "standard"
    programs: str = NO
    accept: float | None = None  # replaces the plan's, which depends on whether difficulties are predicted


@dataclass(slots=True)
class SearchResult:
    """The result of a search: the search itself, how it ended, and what was made from it."""

    search: Search
    moves: Moves
    model: str
    ability: float
    ability_se: float | None
    ending: str
    rounds: int
    requests: int
    trouble: RunSummary | None
    links: list[tuple[Item, float, float]] = field(default_factory=list)
    bundle: FrozenBundle | None = None
    bank: Path | None = None
    is_outside: bool = False
    asked: Sequence[RespondentSummary] = ()
    reasons: Mapping[int, Diagnostic] = field(default_factory=dict)  # by the number of an item that cannot be generated


@dataclass(slots=True)
class Round:
    """Items that were made together: their bundle, their run, and the positions of their instances."""

    bundle: Path
    run: Path
    positions: dict[int, list[int]]


class UnansweredQuestions:
    """Chooses the wanted questions of a run that have no reply yet."""

    def __init__(self, store: Store, respondent: int, positions: Sequence[int]) -> None:
        self.left = [position for position in positions if 1 not in store.answered(respondent, position)]
        self.left.reverse()
        self.total, self.replied = len(self.left), 0

    def choose(self) -> int | None:
        """Return the next question."""
        return self.left.pop() if self.left else None

    def finished(self, position: int, reply: Reply | None) -> None:
        """Count the reply; the next question does not depend on it."""
        self.replied += reply is not None and reply.error is None


def explore(
    spec: Path,
    bank_file: Path,
    model: str,
    out: Path,
    options: SearchOptions,
    terms: RunOptions,
    tell: Callable[[str], None] = lambda text: None,
    on_progress: OnProgress | None = None,
) -> SearchResult:
    """Search until the search ends or replies are missing; make a bundle and a bank with the accepted items.

    `tell` receives a line after each round. `on_progress` receives the number of replies in the current round, the
    number wanted, and the state of asking, at every reply and every second. Raises DiaError: exit 2 if the template
    cannot be explored, exit 3 for a damaged bank.
    """
    bank = read_bank(bank_file)
    model_ability, ability_error = _ability(bank, model, options.ability)
    item, moves = _template(spec, options)
    guide, guide_digest = _guide(bank, moves, model_ability, ability_error or 0.0, options)
    is_outside = _is_outside(bank, model_ability)
    accept = options.accept or (ACCEPT if guide is None or is_outside else ACCEPT_PREDICTED)
    stages = (*options.plan.stages, BEYOND) if is_outside else options.plan.stages
    options = replace(options, plan=replace(options.plan, accept=accept, stages=stages))
    _begin(out, {**_identity(item, moves, bank, model, model_ability, options), "foretold": guide_digest})
    search_run = _BoundarySearch(
        item, moves, model, out, options, terms, Search(moves.space, options.plan, guide), tell, on_progress
    )
    try:
        search_run.go()
    finally:
        search_run.tidy()
    search = search_run.search
    ending = search_run.trouble or search.ending or ""
    result = SearchResult(
        search, moves, model, model_ability, ability_error, ending, len(search_run.rounds), search_run.requests,
        search_run.left, is_outside=is_outside, asked=search_run.asked, reasons=search_run.reasons,
    )  # fmt: skip
    if search_run.trouble is None and search.accepted:
        result.links = list(_linked(result))
        result.bundle = search_run.frozen(search.accepted)
        result.bank = out / BANK
        write_bank(_with(bank, result, search_run), result.bank)
    return result


def _is_outside(bank: Bank, model_ability: float) -> bool:
    """Return whether the model is a logit or more beyond the hardest or the easiest item of the bank.

    The bank has no items there, so predictions are extrapolated, and ten trials are too few.
    """
    difficulties = [entry.difficulty for entry in bank.items]
    return not difficulties or not min(difficulties) - FAR < model_ability < max(difficulties) + FAR


def _ability(bank: Bank, model: str, stated: float | None) -> tuple[float, float | None]:
    """Return the model's ability and its error. Raises DiaError (exit 2) if it is unknown."""
    if bank.unit not in UNITS:
        message = f"the bank was calibrated by {bank.unit}, so single items cannot be added to it"
        raise DiaError(Diagnostic("E897", message, None, "calibrate with `--items instances` or `--items templates`"))
    if stated is not None:
        return stated, None
    for entry in bank.models:
        if entry.model == model:
            return entry.ability, entry.se
    message = visible(f"the ability of `{model[:80]}` is unknown: it has no replies in the bank")
    help = "place it with `dia place`, and pass the result, such as `--ability 0.7`"
    raise DiaError(Diagnostic("E897", message, None, help))


def _template(spec: Path, options: SearchOptions) -> tuple[CheckedBenchmark, Moves]:
    """Return the one template that the path names, and how it can be varied. Raises DiaError for its errors."""
    checked = check(discover([spec]), programs=options.programs)
    if checked.diagnostics.errors:
        raise SpecFaults(checked.diagnostics.ordered(checked.sources), checked.sources)
    clean = [(item, template) for item in checked.benchmarks for template in item.clean]
    if len(clean) != 1:
        message = f"`{spec}` has {len(clean)} templates that can be compiled"
        help = "name the file of one template" if clean else "name a template whose requirements are met here"
        raise DiaError(Diagnostic("E897", message, None, help))
    item, template = clean[0]
    return item, moves_of(item, template, options.moved)


def _guide(
    bank: Bank, moves: Moves, model_ability: float, ability_se: float, options: SearchOptions
) -> tuple[Predictor | None, str | None]:
    """Return a function that predicts the model's success rate at a cell, and a digest of what it depends on.

    It uses explained difficulties. None if the template's difficulties are not explained well enough.
    """
    if not options.runs and bank.explanation is None:
        return None, None
    if options.runs:
        from dia_runtime.psychometrics.explain import explain
        from dia_runtime.psychometrics.panel import read_panel

        explanation = explain(read_panel(options.runs, bank.unit, options.chain), bank)
        bank = replace(bank, explanation=explanation.as_record())
    name = moves.template.name
    quality = next((entry for entry in (bank.explanation or {})["templates"] if entry["template"] == name), None)
    rule = steering_of(bank, Target(low=Decimal(0), high=Decimal(0)), [name]).rules.get(name)
    if rule is None or quality is None:
        return None, None
    start = _typical(moves, moves.space.begin())
    predictions: dict[Cell, Forecast] = {}

    def guide(cell: Cell) -> Forecast:
        if cell not in predictions:
            parameters = _typical(moves, cell)
            difficulty = rule.constant
            for feature, weight in rule.features:
                value = feature.measure(parameters, moves.skills(cell), name)
                if feature.how == "shared":  # of parameters that are not varied: as in the bank
                    before = feature.measure(start, moves.skills(moves.space.begin()), name)
                    value += exact(quality["shared"][feature.name]) - before
                difficulty += weight * value
            shared_error = math.hypot(quality["se"], ability_se)
            predictions[cell] = Forecast(model_ability - float(difficulty), shared_error, quality["error"])
        return predictions[cell]

    used = {name: value for name, value in (bank.explanation or {}).items() if name != "slopes"}
    return guide, digest_of([json.dumps(used, sort_keys=True)])


def _typical(moves: Moves, cell: Cell) -> dict[str, Any]:
    """Return parameters as an instance of the cell may have them, if they are varied as a whole."""
    parameters: dict[str, Any] = {}
    for name, middle in moves.middles(cell).items():
        parameter, _, option = name.partition(".")
        if not option:
            parameters[parameter] = middle
        elif option == "bits" and isinstance(middle, int):
            parameters[parameter] = 3 << max(middle - 2, 0)
        elif option in ("length", "size") and isinstance(middle, int):
            parameters[parameter] = [0] * middle
    if moves.deck is not None:
        parameters[moves.deck.parameter] = [0] * len(cell.skills)
        parameters |= dict.fromkeys(moves.sizing, len(cell.skills))
    return parameters


def _identity(
    item: CheckedBenchmark, moves: Moves, bank: Bank, model: str, place: float, options: SearchOptions
) -> dict[str, Any]:
    """Return what determines a search, besides the replies."""
    files = {name: digest_of([content]) for name, content in sorted(item.files.items())}
    plan = options.plan
    return {
        "spec": moves.file,
        "files": digest_of([json.dumps(files, sort_keys=True)]),
        "bank": bank_record(bank)["checksum"],
        "model": model,
        "ability": place,
        "moved": list(options.moved),
        "seed": plan.seed,
        "stages": list(plan.stages),
        "at_once": plan.at_once,
        "accept": plan.accept,
        "chain": options.chain,
    }


def _begin(out: Path, identity: Mapping[str, Any]) -> None:
    """Prepare the folder of the search. Raises DiaError (exit 2) if it belongs to another search."""
    place = out / STATE
    try:
        stored = json.loads(place.read_text(encoding="utf-8")) if place.is_file() else None
    except (OSError, ValueError, RecursionError):
        stored = {}
    if stored is None:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            message = visible(f"`{out}` " + ("contains something else" if out.is_dir() else "is not a folder"))
            raise DiaError(Diagnostic("E897", message, None, "choose another folder with `-o`"))
        put(place, json.dumps(identity, indent=1, sort_keys=True) + "\n")
    elif stored != identity:
        differs = sorted(
            name for name in identity if not isinstance(stored, dict) or stored.get(name) != identity[name]
        )
        message = visible(f"`{out}` contains a search that was started with different options: {', '.join(differs)}")
        raise DiaError(
            Diagnostic("E897", message, None, "choose another folder with `-o`, or use the options of that search")
        )


def put(path: Path, text: str) -> None:
    """Write the file, completely or not at all. Raises DiaError (exit 2) if that is not possible."""
    refuse_special_file(path)
    try:
        with temporary_sibling(path) as private:
            (private / "file").write_text(text, encoding="utf-8")
            (private / "file").replace(path)
    except OSError as error:
        raise _cannot_write(path, error) from None


def _cannot_write(path: Path, error: OSError) -> DiaError:
    message = visible(f"`{path}` cannot be written: {why_not_written(error)}")
    return DiaError(Diagnostic("E897", message, None, "choose another folder with `-o`"))


class _BoundarySearch:
    """A running search: rounds of varied templates that are compiled and asked."""

    def __init__(
        self, item: CheckedBenchmark, moves: Moves, model: str, out: Path, options: SearchOptions, terms: RunOptions,
        search: Search, tell: Callable[[str], None], on_progress: OnProgress | None = None,
    ) -> None:  # fmt: skip
        self.item, self.moves, self.model, self.out = item, moves, model, out
        self.options, self.terms, self.search, self.tell = options, terms, search, tell
        self.on_progress = on_progress
        self.asked: list[RespondentSummary] = []
        self.rounds: list[Round] = []
        self.place: dict[int, Round] = {}
        self.reasons: dict[int, Diagnostic] = {}
        self.trouble: str | None = None
        self.left: RunSummary | None = None
        self.requests = 0

    def go(self) -> None:
        """Ask until the search ends, or questions remain without a reply."""
        while self.trouble is None and (asks := self.search.next_requests()):
            self._make([ask.item for ask in asks if not ask.item.trials])
            ready = [ask for ask in asks if ask.item.number in self.place]
            for round_ in list(self.rounds):
                self._ask(round_, [ask for ask in ready if self.place[ask.item.number] is round_])
            search = self.search
            items, queries = counted(search.plan.items, "item"), counted(search.queries, "query", "queries")
            tried, rounds = sum(item.trials > 0 for item in search.items), counted(len(self.rounds), "round")
            self.tell(f"{len(search.accepted):,} of {items} after {queries} ({tried:,} tried in {rounds})")

    def name(self, item: Item) -> str:
        """Return the name of an item's template."""
        return f"{self.moves.template.name}_x{item.number + 1:03}"

    # making

    def _make(self, items: Sequence[Item]) -> None:
        """Compile the templates of new items; record which of them cannot be generated."""
        if not items:
            return
        folder = self.out / ROUNDS / f"{len(self.rounds) + 1:03}"
        pending = list(items)
        while pending:
            self._write(folder / SPECS, pending)
            try:
                frozen = self._compiled(folder, self.search.plan.stages[-1])
            except DiaError as error:
                reasons = _reasons(error, {self.name(item): item.number for item in pending})
                if not reasons:
                    raise
                self.reasons |= reasons
                for item in pending:
                    if item.number in reasons:
                        self.search.refuse(item)
                pending = [item for item in pending if item.number not in reasons]
                continue
            self._forget_others(folder / "replies.run", frozen.questions_root)
            round_ = Round(frozen.path, folder / "replies.run", _positions(frozen.path, pending, self.name))
            self.rounds.append(round_)
            self.place |= {item.number: round_ for item in pending}
            return

    def _forget_others(self, path: Path, root: str) -> None:
        """Delete replies to other questions, which a search with more items or queries may have kept."""
        if not path.is_file() or not path.stat().st_size:
            return
        with read_store(path) as store:
            is_ours = store.facts.get("questions_root", root) == root
        if not is_ours:
            self.tell(f"the questions of {path.parent.name} have changed, so they are asked again")
            for end in ("", "-wal", "-shm", "-journal"):
                Path(f"{path}{end}").unlink(missing_ok=True)

    def _write(self, folder: Path, items: Sequence[Item]) -> None:
        """Write a benchmark with only the varied templates."""
        shutil.rmtree(folder, ignore_errors=True)
        files = {name: content for name, content in self.item.files.items() if not TEMPLATE.search(content)}
        files.setdefault(BENCHMARK_FILE, (self.item.folder.path / BENCHMARK_FILE).read_bytes())
        for item in items:
            files |= {name: text.encode() for name, text in self.moves.moved(item.cell, self.name(item)).items()}
        try:
            for name, content in files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(content)
        except OSError as error:
            raise _cannot_write(folder, error) from None

    def _compiled(self, folder: Path, k: int) -> FrozenBundle:
        compiled = compile(
            [folder / SPECS], k, _seed(self.options.plan.seed), folder / "bundle", force=True, use_cache=False,
            allow_programs=self.item.programs,
        )  # fmt: skip
        return compiled.bundles[0]

    def frozen(self, items: Sequence[Item]) -> FrozenBundle:
        """Return the bundle of only the accepted items, with exactly the questions that were asked."""
        folder = self.out / FOUND
        self._write(folder / SPECS, items)
        return self._compiled(folder, self.search.plan.stages[-1])

    def tidy(self) -> None:
        """Delete rounds whose bundle was not completed."""
        for folder in (self.out / ROUNDS).glob("*"):
            if folder.is_dir() and not (folder / "bundle").exists():
                shutil.rmtree(folder, ignore_errors=True)

    # asking

    def _ask(self, round_: Round, asks: Sequence[TrialRequest]) -> None:
        """Ask the questions of a round's items, and pass the results to the search."""
        if not asks or self.trouble is not None:
            return
        positions_by_item = {
            ask.item.number: round_.positions[ask.item.number][ask.item.trials : ask.item.trials + ask.trials]
            for ask in asks
        }
        every = [position for positions in positions_by_item.values() for position in positions]
        summary = self._run(round_, every)
        verdicts = _verdicts(round_.run, set(every), self.options.chain)
        for ask in asks:
            results = [verdicts[position] for position in positions_by_item[ask.item.number] if position in verdicts]
            if len(results) < ask.trials:
                self.trouble, self.left = UNASKED, summary
                return
            self.search.record(ask.item, sum(results), len(results))

    def _run(self, round_: Round, positions: Sequence[int]) -> RunSummary:
        current: list[UnansweredQuestions] = []

        def choosers(store: Store, respondent: int) -> UnansweredQuestions:
            current.append(UnansweredQuestions(store, respondent, positions))
            return current[-1]

        def report(step: Progress) -> None:
            if self.on_progress is not None and current:
                self.on_progress(current[-1].replied, current[-1].total, step)

        self.terms.choosers = choosers
        summary = run(round_.bundle, self.model, round_.run, on_progress=report, terms=self.terms)
        self.requests += sum(entry.requests for entry in summary.respondents)
        self.asked += summary.respondents
        return summary


def _seed(seed: int) -> str | None:
    """Return the seed of the instances: the benchmark's own unless another is given."""
    return None if seed == 0 else str(seed)


def _reasons(error: DiaError, numbers: Mapping[str, int]) -> dict[int, Diagnostic]:
    """Return the first error of each item whose file has one, by its number; `numbers` has the names of the items."""
    reasons: dict[int, Diagnostic] = {}
    for entry in error.diagnostics:
        name = None if entry.position is None else Path(entry.position.file).stem
        if name is not None and name in numbers:
            reasons.setdefault(numbers[name], entry)
    return reasons


def _positions(bundle: Path, items: Sequence[Item], name: Callable[[Item], str]) -> dict[int, list[int]]:
    """Item -> positions of its instances in the bundle."""
    by_template: dict[str, list[int]] = {}
    for position, question in enumerate(open_bundle(bundle).questions()):
        by_template.setdefault(question["template"], []).append(position)
    return {item.number: by_template[name(item)] for item in items}


def _verdicts(path: Path, positions: set[int], chain: str) -> dict[int, bool]:
    """Position -> whether the reply is correct, for questions with a reply."""
    with read_store(path) as store, closing(Judge(store, Rules(chain))) as judge:
        return {
            entry.question.position: entry.mark.verdict is Verdict.CORRECT
            for respondent in store.respondents()
            for entry in judge.judged(respondent.id)
            if entry.question.position in positions and entry.mark.verdict is not Verdict.ERROR
        }


# linking


def _linked(result: SearchResult) -> Iterator[tuple[Item, float, float]]:
    """Return difficulty and error of each accepted item, with the model's ability fixed.

    The roles of model and item are exchanged: the item resists the model of known ability with probability 1 / (1 +
    exp(theta - b)). The predicted difficulty is not used: it led to the item, and may be wrong.
    """
    import numpy as np

    for item in result.search.accepted:
        columns = (np.array([value]) for value in (result.ability, item.trials - item.successes, item.trials))
        b, n_failed, n = (np.asarray(column, dtype=float) for column in columns)
        place = ability(b, n_failed, n, Prior(result.ability, WIDE))
        yield item, place.value, (place.se**2 + (result.ability_se or 0.0) ** 2) ** 0.5


def _with(bank: Bank, result: SearchResult, search_run: _BoundarySearch) -> Bank:
    """Return the bank with the accepted items; the panel, and so the scale, does not change."""
    added = []
    for item, place, error in result.links:
        name = search_run.name(item)
        skills = result.moves.skills(item.cell)
        counts: dict[str, Any] = {"successes": float(item.successes), "trials": float(item.trials)}
        if bank.unit == "instances":
            benchmark = search_run.item.benchmark.name
            counts = dict.fromkeys(counts)
            names = [f"{benchmark}/{name}/{number}" for number in range(search_run.search.plan.stages[-1])]
        else:
            names = [name]
        added += [BankItem(item_name, place, error, **counts, template=name, skills=skills) for item_name in names]
    fresh = {entry.item for entry in added}
    unchanged = tuple(entry for entry in bank.items if entry.item not in fresh)
    return replace(bank, items=(*unchanged, *added), questions_root=None)  # the items now come from two bundles


# the report


def as_record(result: SearchResult, plan: Plan, bank_file: Path, out: Path) -> dict[str, Any]:
    """Return what `dia explore --json` prints."""
    search, moves = result.search, result.moves
    places = {item.number: (place, error) for item, place, error in result.links}
    rates = [item.successes / item.trials for item in search.accepted]
    return {
        "template": moves.template.name,
        "model": result.model,
        "ability": {"value": result.ability, "se": result.ability_se},
        "bank": str(bank_file),
        "seed": plan.seed,
        "stages": list(result.search.plan.stages),
        "parameters": {knob.name: [level.name for level in knob.levels] for knob in moves.knobs},
        "skills": [] if moves.deck is None else list(moves.deck.names),
        "outside_coverage": result.is_outside,
        "ending": result.ending,
        "queries": search.queries,
        "requests": result.requests,
        "rounds": result.rounds,
        "tried": sum(item.trials > 0 for item in search.items),
        "impossible": sum(item.state == "impossible" for item in search.items),
        "accepted": [_item_record(item, result, places) for item in search.accepted],
        "queries_per_accepted": search.queries / len(rates) if rates else None,
        "success_rate": sum(rates) / len(rates) if rates else None,
        "spread": _spread(rates),
        "items": [_item_record(item, result, places) for item in search.items],
        "bundle": None if result.bundle is None else result.bundle.as_json(),
        "new_bank": None if result.bank is None else str(result.bank),
        "out": str(out),
    }


def _spread(rates: Sequence[float]) -> float | None:
    """Return the standard deviation of the success rates at accepted items."""
    if len(rates) < 2:
        return None
    mean = sum(rates) / len(rates)
    return float((sum((rate - mean) ** 2 for rate in rates) / (len(rates) - 1)) ** 0.5)


def reason_text(reason: Diagnostic) -> str:
    """Return the error of an item, and what helps against it, in one line."""
    return reason.message if reason.help is None else f"{reason.message}; {reason.help}"


def _item_record(item: Item, result: SearchResult, places: Mapping[int, tuple[float, float]]) -> dict[str, Any]:
    place = places.get(item.number)
    difficulty = None
    if place is not None:
        ends = [place[0] - Z * place[1], place[0] + Z * place[1]]
        difficulty = {"value": place[0], "se": place[1], "ci": ends}
    return {
        "item": f"{result.moves.template.name}_x{item.number + 1:03}",
        "levels": result.moves.levels(item.cell),
        "skills": list(result.moves.skills(item.cell)),
        "state": item.state,
        "why": reason_text(result.reasons[item.number]) if item.number in result.reasons else None,
        "successes": item.successes,
        "trials": item.trials,
        "at_boundary": item.mass if item.trials else None,
        "difficulty": difficulty,
    }
