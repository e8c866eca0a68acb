"""One part of a compile: its share of the instances, in a folder of its own that `merge` joins with the others."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic
from dia_language.workers.pool import Crew

from dia_compiler.analyze.check import check
from dia_compiler.analyze.worker_resources import Means
from dia_compiler.distribute.gather import Expanded, Gathering, Progress
from dia_compiler.distribute.parts import NAME, Piece, Share, range_of, write_part
from dia_compiler.distribute.task import Work
from dia_compiler.freeze.output import Order, private_folder, written
from dia_compiler.freeze.output import replace as moved
from dia_compiler.freeze.versions import versions
from dia_compiler.freeze.write_bundle import BundlePlan
from dia_compiler.parse.discover import Folder
from dia_compiler.pipeline import explaining, plan_of, refuse, summary_facts, work_of


@dataclass(frozen=True, slots=True)
class Part:
    """A part that lies on disk."""

    path: Path
    benchmark: str
    part: int
    of: int
    questions: int

    def as_json(self) -> dict[str, Any]:
        """The entry that `dia compile --part I/N --json` prints."""
        return {**asdict(self), "path": self.path.as_posix()}


def make_parts(
    folders: list[Folder], order: Order, held: Share, crew: Crew, on_progress: Progress | None
) -> tuple[list[Part], tuple[Diagnostic, ...], dict[str, str]]:
    """That part of each benchmark's bundle, the warnings, and the texts of the specs.

    Raises DiaError with every fault; nothing is written then.
    """
    with private_folder(order.folder) as private, written(order.folder):
        checked = check(folders, order.is_strict, defers=True, programs=order.programs)
        plans = [plan_of(item, order) for item in checked.benchmarks]
        means = Means(str(private.absolute() / "tools"))
        asked = [(plan, work) for plan in plans for work in _works(plan, held, means)]
        works = [work for _, work in asked]
        gathering = Gathering(works, checked.faults, private, on_progress, explaining(plans))
        made = gathering.run(crew)
        refuse(checked, order.is_strict)
        parts = [
            _written(plan, held, [(work, rows) for (of, work), rows in zip(asked, made, strict=True) if of is plan],
                     private / f"part-{place}")
            for place, plan in enumerate(plans)
        ]  # fmt: skip
    return parts, tuple(checked.faults.ordered(checked.sources)), checked.sources


def _works(plan: BundlePlan, held: Share, means: Means) -> list[Work]:
    """What the part makes of each template."""
    works = []
    for place, template in enumerate(plan.item.clean):
        bounds = range_of(template, plan.order.k, place, held)
        if bounds is not None:
            lent = replace(means, programs=plan.item.programs)
            works.append(replace(work_of(plan, template), means=lent, first=bounds[0], last=bounds[1]))
    return works


def _written(plan: BundlePlan, held: Share, made: list[tuple[Work, Expanded]], folder: Path) -> Part:
    """The part, made in a private folder and moved to its own."""
    target = plan.order.folder / f"{plan.folder_name}.part-{held.number}-of-{held.of}"
    pieces = [Piece(work.template.name, work.first, rows.spool, _told(rows)) for work, rows in made]
    folder.mkdir()
    rows = write_part(folder, _facts(plan, held), plan.item.files, pieces)
    _refuse_foreign(target, plan.order)
    moved(folder, target)
    return Part(target, plan.item.benchmark.name, held.number, held.of, rows)


def _told(rows: Expanded) -> dict[str, Any]:
    """What merging must know of the template beside its rows."""
    assert rows.summary is not None
    return {**summary_facts(replace(rows.summary, warnings=())), "wanted": rows.summary.wanted}


def _facts(plan: BundlePlan, held: Share) -> dict[str, Any]:
    order, folder = plan.order, plan.item.folder
    chosen = sorted(path.relative_to(folder.path.resolve()).as_posix() for path in folder.chosen)
    return {
        "part": held.number,
        "of": held.of,
        "benchmark": plan.item.benchmark.name,
        "order": {
            "seed": plan.seed, "k": order.k, "limit": order.limit, "chosen": chosen, "shard_size": order.shard_size,
            "is_strict": order.is_strict,
        },
        "left_out": [{"template": item.template, "why": item.why} for item in plan.item.left_out],
        "versions": versions(),
    }  # fmt: skip


def _refuse_foreign(target: Path, order: Order) -> None:
    """Raises DiaError (exit 2) where something lies at the target that is no part; an older part gives way."""
    is_part = (target / NAME).is_file() and not target.is_symlink()
    if order.force or is_part or not (target.exists() or target.is_symlink()):
        return
    message = f"`{target}` holds something else"
    raise DiaError(Diagnostic("E601", message, None, "--force replaces it; -o chooses another folder"))
