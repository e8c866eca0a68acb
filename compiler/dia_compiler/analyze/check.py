"""Build specs from nodes and check everything that needs no evaluation: schema, names and types. Reports all errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Mapping as Map
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from dia_compiler.analyze.answer_options import OLD_TOLERANCE, check_answer, check_format, warn_of_decimals
from dia_compiler.analyze.prepare import prepare
from dia_compiler.analyze.requirements import missing_requirement
from dia_compiler.analyze.snippets import COMMENT_CUTS, COMMENT_HELP
from dia_compiler.analyze.suspects import is_cut_by_comment
from dia_compiler.analyze.worker_resources import programs_of
from dia_compiler.parse.data_files import DataFiles
from dia_compiler.parse.discover import BENCHMARK_FILE, Folder, inside
from dia_compiler.parse.model import Benchmark, Datum, Template
from dia_compiler.parse.model_builder import Builder, build_template, snippet
from dia_compiler.parse.schema_errors import Path as KeyPath
from dia_compiler.parse.schema_errors import check_schema, comma_error, is_after_comma, is_misspelled
from dia_compiler.parse.sessions.model_builder import build_sessions
from dia_compiler.parse.sessions.rules import check_sessions, has_sessions
from dia_compiler.parse.yaml_pitfalls import tell_split_values
from dia_compiler.types.word_lists import WORD_LISTS, word_list
from dia_language.confinement.permission import NO
from dia_language.diagnostics import DiaError, Diagnostic, Diagnostics, Position, closest, did_you_mean
from dia_language.yaml_nodes import (
    Mapping,
    Node,
    Scalar,
    Sequence,
    begin_with,
    data,
    parse,
    read_bytes,
    read_text,
    size_of,
    text_of,
)
from dia_runtime.bundle.canary import sentence

DECLARED = 1_000
BYTES_TOGETHER = 12 << 20
NODES_TOGETHER = 200_000
NO_FILES: Map[Path, bytes] = MappingProxyType({})


@dataclass(slots=True)
class LeftOut:
    """A template that is left out because something is missing, and the reason."""

    template: str
    why: str


@dataclass(slots=True)
class CheckedBenchmark:
    """A benchmark whose clean templates can be expanded."""

    benchmark: Benchmark
    folder: Folder
    clean: list[Template] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    lists: dict[str, list[str]] = field(default_factory=dict)
    template_lists: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    programs: str = NO

    def lists_of(self, template: Template) -> dict[str, list[str]]:
        """Return the lists read from files that the template sees."""
        return {**self.lists, **self.template_lists.get(template.name, {})}

    def relative(self, display_name: str) -> str:
        """Return the path of a spec file within the benchmark's folder."""
        return Path(display_name).relative_to(self.folder.path).as_posix()


@dataclass(slots=True)
class Checked:
    """The result of a check: benchmarks, errors, the texts of all files for excerpts, and the files' order."""

    benchmarks: list[CheckedBenchmark]
    diagnostics: Diagnostics
    sources: dict[str, str]
    bytes: int = 0
    nodes: int = 0
    freedoms: dict[str, str] = field(default_factory=dict)  # benchmark/template -> d(t) in words

    @property
    def is_full(self) -> bool:
        """Whether all files together are too large to check in reasonable time and memory."""
        return self.bytes > BYTES_TOGETHER or self.nodes > NODES_TOGETHER

    def add(self, text: str, position: Position, root: Node | None = None) -> None:
        """Count a file, and report the first one that is too many."""
        was_full = self.is_full
        self.bytes += len(text)
        self.nodes += 0 if root is None else size_of(root)
        if self.is_full and not was_full:
            most = f"{BYTES_TOGETHER >> 20} MiB or {NODES_TOGETHER:,} nodes"
            help = "compile the benchmarks one at a time, and put data rows in data files"
            self.diagnostics.error("E103", f"all specs and lists together exceed {most}", position, help)


def check(
    folders: list[Folder],
    is_strict: bool = False,
    defers: bool = False,
    programs: str = NO,
    parser: Callable[[str, str], Node] = parse,
    unsaved: Map[Path, bytes] = NO_FILES,
    skips_others: bool = False,
) -> Checked:
    """Return the benchmarks of the folders, and every error of every file that can be found without evaluating.

    With `defers`, expressions of templates without errors so far are not compiled here, because the workers compile
    them anyway; `faults_of` then returns the errors of a template. `programs` says whether specs may start programs.
    `parser` parses the text of a file, or returns the cached nodes of the same text. `unsaved` maps resolved paths of
    spec files to their text in an editor. With `skips_others`, only the named template files are parsed, so errors in
    the others are not reported.
    """
    checked = Checked([], Diagnostics(), {})
    for folder in folders:
        benchmark = _Checker(
            folder, checked, is_strict, defers, programs_of(folder.path, programs), parser, unsaved, skips_others
        ).run()
        if benchmark is not None:
            checked.benchmarks.append(benchmark)
    if checked.is_full:  # the errors make an evaluation pointless
        for benchmark in checked.benchmarks:
            benchmark.clean.clear()
    return checked


def faults_of(item: CheckedBenchmark, template: Template) -> list[Diagnostic]:
    """Return the errors in the names, expressions and templates of a template."""
    diagnostics = Diagnostics()
    prepare(template, item.benchmark, diagnostics, item.lists_of(template), item.programs)
    tell_split_values(template.node, diagnostics, 0)
    return diagnostics.entries


TEMPLATE_FILE = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t]*(?:#[^\n]*)?\r?\n)*template[ \t]*:")  # it begins so


class _Checker:
    """Checks the folder of one benchmark."""

    def __init__(
        self,
        folder: Folder,
        checked: Checked,
        is_strict: bool,
        defers: bool,
        programs: str,
        parser: Callable[[str, str], Node],
        unsaved: Map[Path, bytes],
        skips_others: bool,
    ) -> None:
        self.folder, self.checked, self.diagnostics = folder, checked, checked.diagnostics
        self.is_strict, self.defers, self.programs, self.parser = is_strict, defers, programs, parser
        self.unsaved, self.skips_others = unsaved, skips_others
        self.files: dict[str, bytes] = {}
        self.resolved: dict[Path, Path] = {}
        self.data_files = DataFiles(folder, self.files)

    def run(self) -> CheckedBenchmark | None:
        """Return the benchmark with its clean templates, or None if benchmark.yaml cannot be read."""
        root = self.node(self.folder.path / BENCHMARK_FILE)
        others = [(path, self.node(path)) for path in self.folder.files]
        if not isinstance(root, Mapping):
            return None
        catalogs = self.catalog_files(others)
        before, since = len(self.diagnostics.errors), len(self.diagnostics.entries)
        if self.has_too_many(root):
            return None
        check_schema(root, "benchmark", self.diagnostics)
        builder = Builder(self.diagnostics, {}, catalogs, self.data_files.read)
        benchmark = self.benchmark(root, builder)
        self.diagnostics.entries += self.data_files.take_diagnostics()
        result = CheckedBenchmark(benchmark, self.folder, files=self.files, programs=self.programs)
        result.lists = self.read_lists(benchmark.shared.lists)
        tell_split_values(root, self.diagnostics, since)
        is_clean = len(self.diagnostics.errors) == before
        templates = []
        for path, node in others:
            if isinstance(node, Mapping) and not self.is_catalog(node) and self.is_chosen(path) and self.is_spec(node):
                template = self.template(path, node, benchmark, builder, catalogs, result, is_clean)
                if template is not None:
                    templates.append(template)
        self.check_names(templates)
        self.tell_nothing(root, others)
        result.benchmark = replace(benchmark, templates=tuple(templates))
        result.clean.sort(key=lambda item: (item.facts.get("number") is None, item.facts.get("number", 0), item.name))
        return result

    def tell_nothing(self, root: Mapping, others: list[tuple[Path, Node | None]]) -> None:
        """Report a benchmark without templates, unless errors in its files already explain why."""
        chosen = [node for path, node in others if self.is_chosen(path)]
        if any(not isinstance(node, Mapping) or not self.is_catalog(node) for node in chosen):
            return
        help = "add a file that starts with `template: name`"
        place = Position(root.position.file, 1, 1)
        message = "this benchmark has no template file"
        if self.folder.chosen:
            message, help = "none of the named files is a template", "name a template file"
        self.diagnostics.error("E202", message, place, help)

    def node(self, path: Path) -> Node | None:
        """Return the root node of a file; None if it has errors, which are reported."""
        display_name = path.as_posix()
        if self.checked.is_full:
            return None
        try:
            open_bytes = self.unsaved.get(path.resolve()) if self.unsaved else None
            raw = read_bytes(path, display_name) if open_bytes is None else open_bytes
            self.files[path.relative_to(self.folder.path).as_posix()] = raw
            if self.skips_others and not self.is_chosen(path) and TEMPLATE_FILE.match(raw):
                return None
            text = text_of(raw, display_name)
            self.checked.sources[display_name] = text
            root = self.parser(text, display_name)
            self.checked.add(text, Position(display_name, 1, 1), root)
        except DiaError as error:
            self.diagnostics.entries.extend(error.diagnostics)
            self.checked.sources.setdefault(display_name, "")
            return None
        if not isinstance(root, Mapping):
            self.diagnostics.error("E203", "a spec must be a mapping of keys", root.position, begin_with(display_name))
        return root

    def is_chosen(self, path: Path) -> bool:
        if not self.folder.chosen:
            return True
        if path not in self.resolved:
            self.resolved[path] = path.resolve()
        return self.resolved[path] in self.folder.chosen

    @staticmethod
    def is_catalog(node: Mapping) -> bool:
        return bool(node.pairs) and node.pairs[0][0].text == "catalog"

    def has_too_many(self, root: Mapping) -> bool:
        """Return whether a key declares more entries than the later stages support; if so, report it."""
        for key, node in root.pairs:
            parts = node.pairs if isinstance(node, Mapping) else node.items if isinstance(node, Sequence) else ()
            if len(parts) > DECLARED:
                message = f"more than {DECLARED:,} entries in `{key.text}`"
                self.diagnostics.error("E107", message, key.position, "put data in a list file, or split the file")
                return True
        return False

    def is_spec(self, node: Mapping) -> bool:
        """Return whether the file is meant to be a template; if it is neither a template nor a catalog, report that."""
        if any(key.text == "template" or closest(key.text, ["template"]) for key, _ in node.pairs):
            return True
        place = node.pairs[0][0].position if node.pairs else node.position
        help = "start it with `template: name` or `catalog: name`, or move it to another folder"
        self.diagnostics.error("E202", "this file is neither a template nor a catalog", place, help)
        return False

    def catalog_files(self, others: list[tuple[Path, Node | None]]) -> dict[str, Mapping]:
        catalogs = {}
        for path, node in others:
            if isinstance(node, Mapping) and self.is_catalog(node):
                check_schema(node, "catalog", self.diagnostics)
                catalogs[path.relative_to(self.folder.path).as_posix()] = node
        return catalogs

    def benchmark(self, root: Mapping, builder: Builder) -> Benchmark:
        name = root.get("benchmark")
        keys = ("title", "version", "license", "seed", "canary", "skip", "format", "points", "notes")
        facts = {key: data(value) for key in keys if (value := root.get(key)) is not None}
        if isinstance(canary := facts.get("canary"), str):
            facts["canary"] = sentence(canary)
        return Benchmark(
            name=name.text if isinstance(name, Scalar) else "",
            folder=self.folder.path.as_posix(),
            file=root.position.file,
            facts=facts,
            prompt=snippet(root.get("prompt"), True),
            shared=builder.shared(root),
        )

    def template(
        self,
        path: Path,
        node: Mapping,
        benchmark: Benchmark,
        builder: Builder,
        catalogs: Map[str, Mapping],
        result: CheckedBenchmark,
        is_clean: bool,
    ) -> Template | None:
        """Return the template of a file; it is added to the clean ones if it has no errors."""
        before, since = len(self.diagnostics.errors), len(self.diagnostics.entries)
        if self.has_too_many(node):
            return None
        reported_paths = check_schema(node, "template", self.diagnostics)
        own = Builder(self.diagnostics, builder.types, catalogs, self.data_files.read)
        template = replace(build_template(node, path.as_posix(), own), session_spec=build_sessions(node))
        file_diagnostics = self.data_files.take_diagnostics()  # the files of a template that is left out are not needed
        lists = self.read_lists(template.shared.lists)
        missing = missing_requirement(template, self.folder.path, self.diagnostics)
        if missing and len(self.diagnostics.errors) == before:
            self.leave_out(template, missing, result)
            return template
        self.diagnostics.entries += file_diagnostics
        self.check_whole(template, reported_paths)
        check_format(template, benchmark, reported_paths, self.diagnostics)
        if not (self.defers and is_clean and len(self.diagnostics.errors) == before):
            prepare(template, benchmark, self.diagnostics, {**result.lists, **lists}, self.programs)
        tell_split_values(node, self.diagnostics, since)
        if _lacks_names(node, reported_paths):
            entries = self.diagnostics.entries
            entries[since:] = [entry for entry in entries[since:] if not _is_about_name(entry)]
        if is_clean and len(self.diagnostics.errors) == before:
            result.clean.append(template)
            result.template_lists[template.name] = lists
        return template

    def leave_out(self, template: Template, why: str, result: CheckedBenchmark) -> None:
        if self.is_strict or self.folder.chosen:
            self.diagnostics.error("E206", f"`{template.name}` needs {why}, which is missing here", template.position)
        else:
            result.left_out.append(LeftOut(template.name, why))

    def check_whole(self, template: Template, reported_paths: set[KeyPath]) -> None:
        """Check what a schema cannot: the presence of answer and prompt, options of the answer, names of warnings."""
        node, place = template.node, template.position
        check_sessions(node, self.diagnostics)
        has_answer = any(node.get(key) is not None or is_misspelled(key, node) for key in ("answer", "choices"))
        if not has_sessions(node) and not has_answer:
            self.diagnostics.error("E202", "`answer` is missing", place, "add `answer: {value: ..., type: ...}`")
        answer, choices = node.key("answer"), node.key("choices")
        if answer is not None and choices is not None:
            second = max(answer.position, choices.position)
            self.diagnostics.error("E204", "use only one of `answer` and `choices`", second)
        if node.get("prompt") is None and node.get("sessions") is None and not is_misspelled("prompt", node):
            self.diagnostics.error("E202", "`prompt` is missing", place, "add `prompt: ...`")
        check_answer(node.get("answer"), reported_paths, self.diagnostics)
        allowed = node.get("allow")
        if not (isinstance(allowed, Mapping) and allowed.get(OLD_TOLERANCE)):
            warn_of_decimals(node.get("answer"), self.diagnostics)
        title = node.get("title")
        if isinstance(title, Scalar) and is_cut_by_comment(title) and "comment-in-text" not in template.allow:
            self.diagnostics.warn("comment-in-text", COMMENT_CUTS, title.position, COMMENT_HELP)
        if isinstance(allowed, Mapping):
            self.check_allowed(allowed)

    def check_allowed(self, allowed: Mapping) -> None:
        """Report every key of `allow` that is not the name of a health warning."""
        for key, reason in allowed.pairs:
            if key.text in HEALTH_WARNINGS:
                continue
            if is_after_comma(key, reason, allowed):
                self.diagnostics.entries.append(comma_error(key))
                continue
            help = did_you_mean(key.text, HEALTH_WARNINGS) or f"the health warnings are {', '.join(HEALTH_WARNINGS)}"
            self.diagnostics.error("E204", f"unknown health warning `{key.text}`", key.position, help)

    def read_lists(self, lists: Map[str, Datum]) -> dict[str, list[str]]:
        """Read the lists that come from files (one item per line) and from built-in word lists."""
        items_by_list = {}
        for name, datum in lists.items():
            words = datum.node.get("words") if isinstance(datum.node, Mapping) else None
            if isinstance(words, Scalar) and words.text in WORD_LISTS:
                items_by_list[name] = list(word_list(words.text))
            elif isinstance(words, Scalar):
                help = did_you_mean(words.text, WORD_LISTS) or f"the word lists are {', '.join(WORD_LISTS)}"
                self.diagnostics.error("E303", f"unknown word list `{words.text}`", words.position, help)
            source = datum.node.get("from") if isinstance(datum.node, Mapping) else None
            if isinstance(source, Scalar):
                items = self.read_list(source)
                if items is not None:
                    items_by_list[name] = items
        return items_by_list

    def read_list(self, source: Scalar) -> list[str] | None:
        path = inside(self.folder.path, source.text)
        if path is None:
            help = f"put it in the folder of `{BENCHMARK_FILE}`, and write its path relative to that folder"
            self.diagnostics.error(
                "E101", f"the path `{source.text}` leads outside the spec folder", source.position, help
            )
            return None
        if self.checked.is_full:
            return None
        try:
            text = read_text(path, path.as_posix())
            self.checked.add(text, source.position)
        except DiaError as error:
            diagnostic = error.diagnostics[0]
            texts = sorted(set(path.parent.glob("*.txt")) - {path})
            beside = [other.relative_to(self.folder.path).as_posix() for other in texts]
            suggestion = diagnostic.help or did_you_mean(source.text, beside)
            self.diagnostics.error(diagnostic.code, diagnostic.message, source.position, suggestion)
            return None
        self.files[path.relative_to(self.folder.path).as_posix()] = path.read_bytes()
        return [line for line in text.replace("\r\n", "\n").split("\n") if line]

    def check_names(self, templates: list[Template]) -> None:
        """Report templates of a benchmark that have the same name."""
        first: dict[str, Position] = {}
        for template in templates:
            earlier = first.get(template.name)
            if template.name and earlier is not None:
                message = f"duplicate template `{template.name}`; the first is at {earlier}"
                self.diagnostics.error("E310", message, template.position, "choose another name")
            first.setdefault(template.name, template.position)


DECLARING = ("params", "let", "lists", "assets", "sessions", "slots")  # keys of a template that declare values


def _lacks_names(node: Mapping, reported_paths: set[KeyPath]) -> bool:
    """Return whether names of the template are unknown only because what declares them has a reported error."""
    of_sessions = (path for path in reported_paths if path[:1] == ("sessions",))
    has_broken_reply = any(len(path) <= 2 or path[-1] in ("turns", "name", "reply") for path in of_sessions)
    return has_broken_reply or any(is_misspelled(key, node) for key in DECLARING)


def _is_about_name(entry: Diagnostic) -> bool:
    """Return whether the error is a name without a declaration."""
    is_unknown = entry.message.startswith("unknown name") or entry.message.endswith("is a function, not a value")
    return entry.code == "E303" and is_unknown


HEALTH_WARNINGS: dict[str, str] = {
    "answer-decimals": (
        "The answer option `decimals: n` means a tolerance, although for a parameter it means the number of decimal "
        "places. Write `tolerance: {places: n}` instead."
    ),
    "answer-ignores-parameter": "A parameter is shown, but neither the answer nor the checks depend on it.",
    "answer-in-prompt": "In most of the instances that were made, the correct answer appears in the prompt as a whole "
    "word or number.",
    "check-repeats-value": "A check only repeats the expression of the answer.",
    "comment-in-text": (
        "A prompt, a title or another text without quotes contains ` #`, which YAML reads as the start of a comment. "
        "The rest of the line is not part of the text. If it is meant to be a comment, put two spaces before the `#`."
    ),
    "constant-answer": "All instances that were made have the same answer.",
    "few-distinct-answers": (
        "More than half of the instances have the same answer, so a constant guess is mostly right. Answers "
        "that are letters of shuffled `choices` are not checked."
    ),
    "few-instances": (
        "The template can make fewer instances than `dia compile` needs by default (5, or the template's `instances`), "
        "so `dia compile` fails. Only `dia check` looks for it."
    ),
    "flat-examples": (
        "The answer is a list, but `rejects` in an example is a list of single values, such as `rejects: [a, b]`. "
        "These are two replies of one element each. To reject the reply `[a, b]`, write `rejects: [[a, b]]`."
    ),
    "k-equals-d": "The bundle contains every instance that the template can make, but `instances: all` is not set.",
    "low-acceptance": (
        "Of the attempts to draw an instance, fewer than 1 in 100 satisfied every condition. If there are values that "
        "can never satisfy them, the message names one of these values."
    ),
    "no-rounding-rule": (
        "A prompt contains `{{ rounding_rule }}`, but the answer has no `round`, so the rule is an empty text."
    ),
    "off-target": (
        "The mean predicted success of the chosen instances differs from the target of `--success` by more than 0.05, "
        "because nearly all possible instances are too easy or too hard. Only `dia compile --success` looks for it."
    ),
    "oversized-prompt": "A prompt is longer than 32,000 characters.",
    "record-in-prompt": (
        "A prompt prints a parameter whose value is a record, such as `{name: Ann, they: she, ...}`. Parameters of the "
        "type `row` have such values, and so have those of the type `name` with `pronouns: true`. Print a field, such "
        "as `{{ person.name }}`."
    ),
    "shadowed-function": "A function of the spec hides a library function.",
    "shortcut": (
        "A simple rule, such as the longest word of the prompt, finds the answer without understanding. Only "
        "`dia check --strict` and `dia probe` look for it."
    ),
    "single-braces": (
        "A prompt has the name of a value in single braces, such as `{a}`, and prints the value nowhere; `{{ a }}` is "
        'probably meant. Or a text in an expression has such braces but is not an f-string; `f"{a}"` is probably meant.'
    ),
    "unlisted-options": (
        "The prompt of a multiple-choice question does not print `{{ options }}`, so the model does not see the "
        "options."
    ),
    "unused-parameter": "Neither the prompt nor the answer depends on a parameter, and no condition uses it.",
    "xor-as-power": "An expression has `x ^ 2`, which is the exclusive or of bits. A power is `x ** 2`.",
}
