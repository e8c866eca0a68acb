"""`dia compile`: compile specs to frozen bundles."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from dia_language.counts import counted, freedom_text
from dia_runtime.commands.options import json_option
from dia_runtime.commands.ranges import IntRange
from dia_runtime.commands.terminal import echo

from dia_compiler.commands.console import is_quiet, is_verbose, print_diagnostics, progress
from dia_compiler.commands.programs import allow_programs, jobs_option

if TYPE_CHECKING:
    from dia_compiler.freeze.output import FrozenBundle


@click.command("compile")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--k", default=5, show_default=True, metavar="N",
              help="Number of instances of every item, unless its template sets `instances`. A template is one item, "
              "or several with `each`.")  # fmt: skip
@click.option(
    "--seed",
    metavar="TEXT",
    help="Seed of all instances (default: the benchmark's, else 0); `secret` draws a random one.",
)
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder for the bundles (default: build)."
)
@jobs_option
@click.option("--strict", is_flag=True, help="Treat warnings and left-out templates as errors.")
@click.option(
    "--limit", type=IntRange(min=1), metavar="N", help="Compile only the first N templates of each benchmark."
)
@click.option("--force", is_flag=True,
              help="Replace whatever exists. Without it, a bundle is replaced only in the default folder, and only if "
              "it is not signed, sealed or used by a run.")  # fmt: skip
@click.option("--no-cache", is_flag=True, help="Compile everything again, without reading or writing the cache.")
@click.option("--part", metavar="I/N", help="Compile part I of N, for `dia merge`.")
@click.option("--cluster", metavar="ADDRESS", help="Compile on a Dask cluster: tcp://HOST:PORT, or `local`. It is not "
              "contacted if the bundle is already there, unchanged.")  # fmt: skip
@click.option("--success", metavar="P", help="Keep instances that a model is predicted to solve with this probability.")
@click.option("--difficulty", metavar="A..B", help="Keep instances of this predicted difficulty, in logits.")
@click.option("--for", "model", metavar="MODEL", help="With --success: a model in the bank.")
@click.option("--ability", metavar="LOGITS", help="With --success: the ability of a model that is not in the bank.")
@click.option(
    "--bank", type=click.Path(path_type=Path), metavar="FILE", help="Bank with predictions, from `dia explain --save`."
)
@allow_programs
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[Path, ...],
    k: int,
    seed: str | None,
    out: Path | None,
    jobs: int | None,
    strict: bool,
    limit: int | None,
    force: bool,
    no_cache: bool,
    part: str | None,
    cluster: str | None,
    success: str | None,
    difficulty: str | None,
    model: str | None,
    ability: str | None,
    bank: Path | None,
    allow_programs: str,
    as_json: bool,
) -> int:
    """Compile specs to frozen, checksummed bundles.

    A PATH is a benchmark's folder, a folder of such folders, or one template file. The same specs, seed and k give the
    same questions and answers on every machine, byte for byte (the bytes of assets also depend on the versions of
    libraries); the printed digest identifies them. With --part, compiles one of N parts, on any machine. `dia merge`
    makes the parts into one bundle, the same as without --part.

    With --success (and --for or --ability), or with --difficulty, keeps only instances of the right predicted
    difficulty, and leaves out templates whose difficulty cannot be predicted well enough.

    \b
    Example:
      dia compile specs/ --k 5
      dia compile specs/dia_bench/d004_small_product.yaml --part 1/1 -o parts
    """
    from dia_compiler.pipeline.api import compile

    if seed == "secret":
        import secrets

        seed = secrets.token_hex(32)
    steering = None
    if any(option is not None for option in (success, difficulty, model, ability, bank)):
        from dia_compiler.commands.steering import steering_request

        steering = steering_request(success, difficulty, model, ability, bank)
    with progress(is_quiet(ctx)) as report:
        compiled = compile(
            list(paths), k, seed, out, jobs or os.cpu_count(), strict, force, limit, report, not no_cache,
            allow_programs=allow_programs, part=part, cluster=cluster, steering=steering,
        )  # fmt: skip
    print_diagnostics(compiled.warnings, compiled.sources)
    if as_json:
        parts = {"parts": [one.as_json() for one in compiled.parts]} if compiled.parts else {}
        echo(json.dumps({"bundles": [_bundle_facts(bundle) for bundle in compiled.bundles], **parts}, indent=2))
        return 0
    for one in compiled.parts:
        echo(f"{one.path.as_posix()}\n  part {one.part} of {one.of}: {counted(one.questions, 'question')}")
    for bundle in compiled.bundles:
        _print_bundle(bundle)
        if is_verbose(ctx):
            _print_templates(bundle.path)
    return 0


def _bundle_facts(bundle: FrozenBundle) -> dict[str, Any]:
    """Return the JSON of a bundle, with the predictions if the instances were chosen by predicted difficulty."""
    from dia_compiler.commands.steering import predictions

    facts = predictions(bundle.path)
    return bundle.as_json() if facts is None else {**bundle.as_json(), "steering": facts}


def _print_bundle(bundle: FrozenBundle) -> None:
    from dia_compiler.commands.steering import prediction_lines, predictions

    for item in bundle.left_out:
        echo(f"left out of {bundle.benchmark}: {item['template']} needs {item['why']}", err=True)
    echo(f"{bundle.path.as_posix()}")
    echo(f"  {bundle.contents}")
    if facts := predictions(bundle.path):
        for line in prediction_lines(facts):
            echo(line)
        for item in facts["refused"]:
            echo(f"left out of {bundle.benchmark}: {item['template']}: {item['why']}", err=True)
    echo(f"  digest {bundle.digest}")


def _print_templates(path: Path) -> None:
    """Print on standard error each template's degrees of freedom, and if it has answers, how they are distributed."""
    from dia_runtime.bundle.open import open_bundle

    bundle = open_bundle(path)
    layouts = bundle.layouts()
    for row in bundle.templates():
        line = f"  {row['template']}: possible instances: {freedom_text(row['degree_of_freedom'])}"
        if not layouts[row["template"]].has_sessions:
            answers = row["answers"]
            share = f"{float(Fraction(answers['commonest_share'])):.0%}"
            line += f"; {counted(answers['distinct'], 'distinct answer')}, the most common one in {share} of instances"
        echo(line, err=True)
