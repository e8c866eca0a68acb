"""The command line: a table of commands, each imported when it is named."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
from collections.abc import Iterator
from typing import Any

import click
from click.core import ParameterSource

# Name -> module and one-line help; the module holds `command`.
COMMANDS: dict[str, tuple[str, str]] = {
    "new": ("dia_compiler.commands.new", "Create a template or a benchmark to start from."),
    "check": ("dia_compiler.commands.check", "Report every error in every spec."),
    "preview": ("dia_compiler.commands.preview", "Show instances of a template in the terminal."),
    "studio": ("dia_compiler.commands.studio", "Show templates in the browser while you write them."),
    "lsp": ("dia_compiler.commands.lsp", "Run the language server that shows errors in your editor."),
    "probe": ("dia_compiler.commands.probe", "Find shortcuts: rules that answer without understanding."),
    "functions": ("dia_compiler.commands.functions", "Show the function library."),
    "types": ("dia_compiler.commands.types", "Show parameter types, answer types, formats and asset builders."),
    "schemas": ("dia_compiler.commands.schemas", "Write the JSON schemas of spec files, for editors."),
    "doctor": ("dia_compiler.commands.doctor", "Show what is installed, and which extras and tools are missing."),
    "compile": ("dia_compiler.commands.compile", "Compile specs to frozen bundles."),
    "merge": ("dia_compiler.commands.merge", "Join parts into one bundle, or runs into one run."),
    "show": ("dia_runtime.commands.show", "Show a bundle or a run, or one question of it."),
    "diff": ("dia_runtime.commands.diff", "Report what differs between two bundles."),
    "verify": ("dia_compiler.commands.verify", "Verify that no byte of a bundle has changed."),
    "run": ("dia_runtime.commands.run", "Ask models the questions of a bundle."),
    "import": ("dia_runtime.commands.import_replies", "Import replies from a table or another harness."),
    "score": ("dia_runtime.commands.score", "Grade the replies of runs and print the figures."),
    "report": ("dia_runtime.commands.report", "Write an HTML page with the figures and replies."),
    "plot": ("dia_runtime.commands.plot", "Draw a plot of runs or of a bank."),
    "questions": ("dia_runtime.commands.questions", "Show the hardest questions, and where models agree."),
    "audit": ("dia_runtime.commands.audit", "Compare two ways (chains) of reading answers from replies."),
    "calibrate": ("dia_runtime.commands.calibrate", "Put models and items on one Rasch scale, and save it as a bank."),
    "explain": ("dia_runtime.commands.explain", "Explain difficulties by parameters and skills."),
    "place": ("dia_runtime.commands.place", "Estimate a model's ability from a few questions."),
    "link": ("dia_runtime.commands.link", "Put two banks on one scale."),
    "explore": ("dia_compiler.commands.explore", "Find items that a model solves half of the time."),
    "overlap": ("dia_runtime.commands.overlap", "Find questions of a bundle in other question sets."),
    "export": ("dia_runtime.commands.export", "Export a bundle for another harness, or the replies of a run."),
    "pack": ("dia_runtime.commands.pack", "Pack a bundle into one file."),
    "unpack": ("dia_runtime.commands.unpack", "Unpack a packed bundle."),
    "keygen": ("dia_runtime.commands.keygen", "Create a key pair for signing."),
    "sign": ("dia_runtime.commands.sign", "Sign a bundle."),
    "seal": ("dia_runtime.commands.seal", "Encrypt a bundle's answers, and commit to them."),
    "unseal": ("dia_runtime.commands.unseal", "Restore a sealed bundle."),
    "prove": ("dia_runtime.commands.prove", "Prove one answer of a sealed bundle."),
    "scan": ("dia_runtime.commands.scan", "Find a benchmark in a corpus, such as training data."),
}
# The first command of each group -> the group's heading
HEADINGS = {
    "new": "Write templates",
    "compile": "Compile bundles",
    "run": "Ask models and score them",
    "calibrate": "Put models and items on one scale",
    "export": "Publish bundles",
}

ALONE = {"--allow-programs": "--allow-programs=confined"}  # options whose value is optional, with the default
COMPLETION = "_DIA_COMPLETE"  # set by a shell that asks for completions
YOUNG = 250_000  # objects between two garbage collections; most objects of a command live until its end
EPILOG = "Example: dia compile specs/ --k 5"


def command_groups() -> dict[str, list[str]]:
    """Return the commands by the heading of their group."""
    groups: dict[str, list[str]] = {}
    for name in COMMANDS:
        if name in HEADINGS:
            group = groups.setdefault(HEADINGS[name], [])
        group.append(name)
    return groups


def all_commands() -> Iterator[click.Command]:
    """Import and yield every command."""
    for module, _ in COMMANDS.values():
        yield importlib.import_module(module).command


class LazyGroup(click.Group):
    """A group that lists its commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order in which a new user needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, importing its module."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command: click.Command = importlib.import_module(entry[0]).command
        _add_common(command)
        if not ctx.resilient_parsing:
            from dia_compiler.commands.defaults import default_map

            ctx.default_map = {cmd_name: default_map(command, cmd_name, COMMANDS, all_commands)}
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name; an unknown one is reported with the closest name."""
        name = args[0] if args else ""
        if name and name not in COMMANDS and not name.startswith("-"):
            from dia_language.diagnostics import did_you_mean

            suggestion = did_you_mean(name, COMMANDS)
            raise click.UsageError(f"unknown command `{name}`" + (f"; {suggestion}" if suggestion else ""), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the tables of commands, one for each group."""
        width = max(map(len, COMMANDS))
        for heading, names in command_groups().items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), COMMANDS[name][1]) for name in names])


def _version(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"dia {version('dia-spec')}")
        ctx.exit()


def _remember(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value:
        ctx.find_root().meta[f"dia.{parameter.name}"] = value


class Tee:
    """Standard error that also goes to a log file."""

    def __init__(self, stream: Any, path: str) -> None:
        self.stream = stream
        self.log = open(path, "a", encoding="utf-8")  # noqa: PTH123, SIM115 - pathlib costs start-up time

    def write(self, text: str) -> int:
        """Write to both streams."""
        self.log.write(text)
        self.log.flush()
        return int(self.stream.write(text))

    def closed(self) -> Any:
        """Close the log file, and return the stream."""
        with contextlib.suppress(OSError):
            self.log.close()
        return self.stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def _log(ctx: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is None:
        return
    _remember(ctx, parameter, value)
    try:
        sys.stderr = Tee(sys.stderr, value)
    except OSError as error:
        raise click.UsageError(f"--log-file {value}: {error.strerror}", ctx) from None


def _common() -> list[click.Option]:
    """Return the options that every command takes, before and after the command's name."""
    return [
        click.Option(
            ["-q", "--quiet"], is_flag=True, expose_value=False, callback=_remember, help="Print no progress."
        ),
        click.Option(
            ["-v", "--verbose"],
            count=True,
            expose_value=False,
            callback=_remember,
            help="Print more, such as results for each template.",
        ),
        click.Option(
            ["--debug"],
            is_flag=True,
            expose_value=False,
            callback=_remember,
            help="Show the traceback of internal errors.",
        ),
        click.Option(
            ["--log-file"],
            metavar="FILE",
            expose_value=False,
            callback=_log,
            help="Also write messages and tracebacks to this file.",
        ),
    ]


def _add_common(command: click.Command) -> None:
    for parameter in command.params:
        if isinstance(parameter.type, click.types.IntParamType) and not parameter.metavar:
            parameter.metavar = "N"
    used_flags = {flag for parameter in command.params for flag in parameter.opts}
    command.params += [option for option in _common() if not used_flags & set(option.opts)]


dia = LazyGroup(
    "dia",
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_version,
            help="Print the version and exit.",
        ),
        *_common(),
    ],
    help="Compile benchmark specs to frozen bundles, ask models their questions, and score the replies.",
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def main() -> None:
    """Run the command line and exit with a documented code.

    0 done, 1 a difference or a failed gate, 2 input or arguments, 3 integrity, 4 provider or network, 70 a bug in dia,
    130 interrupted.
    """
    if COMPLETION in os.environ:
        dia.main(prog_name="dia", complete_var=COMPLETION)
    gc.set_threshold(YOUNG)
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # before its first line, or while an error is being printed
        _say("interrupted")
        code = 130
    gc.freeze()  # the process ends, so a last garbage collection would be wasted
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Return the exit code of the command line with these arguments."""
    from dia_language.diagnostics import DiaError

    context: click.Context | None = None
    stderr = sys.stderr
    try:
        context = dia.make_context("dia", [ALONE.get(word, word) for word in arguments])
        with context:
            return int(dia.invoke(context) or 0)
    except click.exceptions.Exit as end:
        return int(end.exit_code)
    except click.ClickException as error:
        _show(error)
        return 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return 130
    except BrokenPipeError:
        return 0  # the reader of our output is gone
    except DiaError as error:
        tell(error)
        return error.exit_code
    except OSError as error:
        return _refused(error, context)
    except ModuleNotFoundError as error:
        return _missing(error, context)
    except Exception as error:
        if _is_interrupt(error):
            _say("interrupted")
            return 130
        return _bug(context)
    finally:
        while isinstance(sys.stderr, Tee):
            sys.stderr = sys.stderr.closed()
        sys.stderr = stderr
        _drop_unwritable_output()


def _drop_unwritable_output() -> None:
    """Discard output that cannot be written; otherwise Python tries again when it ends, and exits with code 120."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError), open(os.devnull, "wb") as nothing:  # noqa: PTH123
            os.dup2(nothing.fileno(), sys.stdout.fileno())


def tell(error: Any) -> None:
    """Print the diagnostics of an expected failure, with excerpts of the sources if available."""
    from dia_language.diagnostics import render_diagnostic

    for entry in error.diagnostics:
        _say(render_diagnostic(entry, getattr(error, "sources", {})))


def _is_interrupt(error: BaseException | None) -> bool:
    """Return whether Ctrl-C caused the error: Python 3.11 wraps exceptions raised while a class is created."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


def _is_default(error: click.ClickException) -> bool:
    """Return whether the error is about a value from the file with defaults."""
    if not isinstance(error, click.BadParameter) or error.ctx is None or error.param is None:
        return False
    return error.ctx.get_parameter_source(error.param.name or "") is ParameterSource.DEFAULT_MAP


def _with_near_option(error: click.NoSuchOption) -> click.UsageError:
    """Return the error with the option that was probably meant, if any; click suggests `--out` for `--foo`."""
    from dia_language.diagnostics import closest

    name, context = error.option_name.removeprefix("--"), error.ctx
    parameters = [] if context is None else context.command.get_params(context)
    flags = [flag for entry in parameters for flag in (*entry.opts, *entry.secondary_opts)]
    names = [flag.removeprefix("--") for flag in flags if flag.startswith("--")]
    longer = [flag for flag in names if len(name) > 2 and flag.startswith(name)]  # --temp is short for --temperature
    near = longer[0] if len(longer) == 1 else closest(name, names)
    return click.UsageError(error.message + (f" Did you mean '--{near}'?" if near else ""), context)


def _show(error: click.ClickException) -> None:
    """Print an error in the arguments, which may contain the name of a file."""
    from io import StringIO

    from dia_language.diagnostics import visible

    text = StringIO()
    (_with_near_option(error) if isinstance(error, click.NoSuchOption) else error).show(text)
    printed = text.getvalue().rstrip("\n")
    if _is_default(error):
        from dia_compiler.commands.defaults import defaults_file

        printed += f"\nThe value is a default in {defaults_file()}."
    _say(visible(printed))


def _say(text: str) -> None:
    """Print to standard error; if it is closed, only the exit code remains."""
    with contextlib.suppress(OSError):
        click.echo(text, err=True)


def _refused(error: OSError, context: click.Context | None) -> int:
    """Report an error of the operating system: a name that is too long, a full disk, a folder without permission."""
    from dia_language.diagnostics import DiaError, Diagnostic, visible

    if error.errno is None or (context is not None and context.find_root().meta.get("dia.debug")):
        return _bug(context)
    name = f"`{str(error.filename)[:200]}`: " if error.filename is not None else ""
    message = visible(f"the operating system refused: {name}{str(error.strerror).lower()}")
    tell(DiaError(Diagnostic("E603", message, None, "use --debug to see where")))
    return 2


def _missing(error: ModuleNotFoundError, context: click.Context | None) -> int:
    """Report a package that is not installed, for example after an update; a missing module of dia is a bug."""
    from dia_language.diagnostics import DiaError, Diagnostic

    name = str(error.name).partition(".")[0]
    if name.startswith("dia_") or (context is not None and context.find_root().meta.get("dia.debug")):
        return _bug(context)
    help = "install dia again, because an update may need new packages: `pip install -e .` in a clone"
    tell(DiaError(Diagnostic("E606", f"the Python module `{name}` is not installed", None, help)))
    return 2


def _bug(context: click.Context | None) -> int:
    """Write the traceback to a log file, or show it with --debug."""
    import traceback

    meta = context.find_root().meta if context is not None else {}
    text = traceback.format_exc()
    if meta.get("dia.debug"):
        _say(text)
        return 70
    where = _saved_traceback(text, meta.get("dia.log_file"))
    message = text.strip().splitlines()[-1]
    _say(f"error[E900]: a bug in dia: {message}\n  help: {where}--debug shows it")
    return 70


def _saved_traceback(text: str, path: str | None) -> str:
    """Return where the traceback was saved; an empty text if it cannot be saved."""
    import tempfile

    try:
        if path is None:
            handle, path = tempfile.mkstemp(prefix="dia-", suffix=".log")
            os.close(handle)
        with open(path, "a", encoding="utf-8") as file:  # noqa: PTH123 - pathlib costs start-up time
            file.write(text)
    except OSError:
        return ""
    return f"the traceback is in {path}; "


if __name__ == "__main__":
    main()
