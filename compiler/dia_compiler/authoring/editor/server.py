"""The language server: requests of the editor over the protocol, and their answers."""

from __future__ import annotations

import asyncio
import logging
import os
from difflib import SequenceMatcher
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dia_compiler.authoring.editor.checking import is_spec, kind_of_file, text_at
from dia_compiler.authoring.editor.completion import CONSTANT, FUNCTION, KEY, KEYWORD, NAME, VALUE, completions
from dia_compiler.authoring.editor.fixes import fixes
from dia_compiler.authoring.editor.formatting import formatted
from dia_compiler.authoring.editor.hover import definition, hover, symbol_at
from dia_compiler.authoring.editor.knowledge import Knowledge, function_words
from dia_compiler.authoring.editor.renaming import (
    RENAMED,
    RenameError,
    occurrences,
    renamed,
    require_name,
    require_no_new_errors,
    require_same_uses,
)
from dia_compiler.authoring.editor.schedule import OpenFile, Schedule
from dia_compiler.authoring.editor.texts import Lines
from dia_compiler.parse.discover import SUFFIXES
from dia_language.diagnostics import Diagnostic, Position
from dia_language.functions import library
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

SOURCE = "dia"
SEVERITIES = {"error": lsp.DiagnosticSeverity.Error, "warning": lsp.DiagnosticSeverity.Warning}
WATCHED = "**/*.{yaml,yml,txt,csv,json,jsonl,parquet}"
AtPlace = lsp.CompletionParams | lsp.HoverParams | lsp.DefinitionParams | lsp.PrepareRenameParams | lsp.RenameParams


class SpecServer(LanguageServer):
    """The server of one editor."""

    def __init__(self, programs: str) -> None:
        super().__init__("dia", version("dia-spec"), text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        self.programs = programs
        self.schedule: Schedule | None = None
        self.published_elsewhere: set[Path] = set()

    @property
    def files(self) -> Schedule:
        """The open files."""
        if self.schedule is None:
            self.schedule = Schedule(self.programs, self.publish)
            self.schedule.start()
        return self.schedule

    def file(self, uri: str) -> OpenFile | None:
        return self.files.files.get(uri)

    # documents

    def put(self, uri: str, text: str, number: int | None) -> None:
        """Store the text of a file that was opened or changed."""
        path = path_of(uri)
        if path is None:
            return
        if not is_spec(path, text):
            self.drop(uri)
            return
        self.files.put(uri, path, text, number)
        if kind_of_file(path, text) != "template":
            self.touch_others(path)

    def drop(self, uri: str) -> None:
        """Forget a file; its diagnostics are removed, except those that other files still report."""
        file = self.files.drop(uri)
        if file is not None:
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))
            self.publish_elsewhere()
            self.touch_others(file.path)

    def touch_others(self, path: Path) -> None:
        """Recheck the open files whose benchmark may contain a changed file."""
        others = [file for file in self.files.files.values() if file.path != path and shares_folder(file.path, path)]
        self.files.touch(others)

    # diagnostics

    def publish(self, file: OpenFile) -> None:
        """Send what the newest check reports about a file, and about files that are not open."""
        assert file.check is not None
        lines = Lines(file.text)
        entries = [self.diagnostic(entry, lines) for entry in file.check.of_file(file.path)]
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(file.uri, entries, file.version))
        self.publish_elsewhere()

    def publish_elsewhere(self) -> None:
        """Send what the checks report about files of the benchmarks that are not open."""
        open_paths = {file.path for file in self.files.files.values()}
        checks = [file.check for file in self.files.files.values() if file.check is not None]
        places = {Path(entry.position.file) for check in checks for entry in check.diagnostics if entry.position}
        for path in (places | self.published_elsewhere) - open_paths:
            entries = self.files.diagnostics(path)
            text = next((text for check in checks if check.checked is not None
                         for name, text in check.checked.sources.items() if Path(name) == path), "")  # fmt: skip
            lines = Lines(text)
            uri = from_fs_path(str(path)) or path.as_uri()
            sent = [self.diagnostic(entry, lines) for entry in entries]
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, sent))
        self.published_elsewhere = places - open_paths

    def diagnostic(self, entry: Diagnostic, lines: Lines) -> lsp.Diagnostic:
        """Return a diagnostic as editors show it; `data` has it as `dia check --format json` prints it."""
        start, end = lines.word_span(entry.position.line, entry.position.column) if entry.position else (0, 0)
        help = f"\nhelp: {entry.help}" if entry.help else ""
        return lsp.Diagnostic(
            range=self.range(lines, start, end),
            message=entry.message + help,
            severity=SEVERITIES[entry.severity],
            code=entry.code,
            source=SOURCE,
            data=entry.as_json(),
        )

    # places

    def range(self, lines: Lines, start: int, end: int) -> lsp.Range:
        """Return the range between two characters of a text in the units of the client."""
        return lsp.Range(self.position(lines, start), self.position(lines, end))

    def position(self, lines: Lines, offset: int) -> lsp.Position:
        """Return the position of a character in the units of the client."""
        line, column = lines.line_and_column(offset)
        head = lines.lines[line][:column]
        return lsp.Position(line, self.workspace.position_codec.client_num_units(head))

    def offset(self, lines: Lines, position: lsp.Position) -> int:
        """Return the number of characters before a position of the client."""
        if position.line >= len(lines.lines):
            return len(lines.text)
        line, units = lines.lines[position.line], 0
        for column, char in enumerate(line):
            if units >= position.character:
                return lines.starts[position.line] + column
            units += self.workspace.position_codec.client_num_units(char)
        return lines.starts[position.line] + len(line)

    def known(self, params: AtPlace) -> Knowledge | None:
        """Return what is known about the place of a request; None for a file that is not a spec."""
        file = self.file(params.text_document.uri)
        return Knowledge(file, self.offset(Lines(file.text), params.position)) if file is not None else None

    def edits(self, lines: Lines, old: str, new: str) -> list[lsp.TextEdit]:
        """Return the edits from one text to another: one for each block of lines that differs."""
        before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
        edits = []
        for tag, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            if tag != "equal":
                start, end = len("".join(before[:i])), len("".join(before[:j]))
                edits.append(lsp.TextEdit(self.range(lines, start, end), "".join(after[k:m])))
        return edits

    async def rename(self, knowledge: Knowledge, new: str) -> lsp.WorkspaceEdit:
        """Return the edits that give a parameter or let value another name. Raises RenameError."""
        symbol = symbol_at(knowledge)
        if symbol is None:
            raise RenameError("there is no parameter or let value here")
        require_name(new)
        other = knowledge.symbols.get(new)
        if other is not None and other is not symbol:
            raise RenameError(f"`{new}` is already the name of a {other.kind}")
        text, path = knowledge.file.text, knowledge.file.path
        places = occurrences(text, knowledge.shape, symbol)
        new_text = renamed(text, places, symbol.name, new)
        files = self.files
        await asyncio.get_running_loop().run_in_executor(
            files.text_thread, require_no_new_errors, files.text_checker, path, files.unsaved(), new_text
        )
        if new != symbol.name:
            require_same_uses(new_text, knowledge.shape, symbol, places, new)
        length = len(symbol.name)
        edits = [lsp.TextEdit(self.range(knowledge.lines, place, place + length), new) for place in places]
        return lsp.WorkspaceEdit(changes={knowledge.file.uri: edits})

    def location(self, place: Position) -> lsp.Location:
        """Return a position of a diagnostic or declaration as a place of a file, which may be open."""
        path = Path(place.file)
        open_file = next((file for file in self.files.files.values() if file.path == path), None)
        lines = Lines(open_file.text if open_file is not None else text_at(path, {}))
        start, end = lines.word_span(place.line, place.column)
        return lsp.Location(open_file.uri if open_file is not None else path.as_uri(), self.range(lines, start, end))


KINDS = {
    KEY: lsp.CompletionItemKind.Property, VALUE: lsp.CompletionItemKind.EnumMember,
    NAME: lsp.CompletionItemKind.Variable, FUNCTION: lsp.CompletionItemKind.Function,
    CONSTANT: lsp.CompletionItemKind.Constant, KEYWORD: lsp.CompletionItemKind.Keyword,
}  # fmt: skip
TRIGGERS = ["{", "|", " ", "(", "%", "="]


def markdown(text: str) -> lsp.MarkupContent:
    """Return Markdown as editors take it."""
    return lsp.MarkupContent(lsp.MarkupKind.Markdown, text)


def path_of(uri: str) -> Path | None:
    """Return the resolved path of a spec file; None for anything else, such as a text that was never saved."""
    name = to_fs_path(uri) if uri.startswith("file:") else None
    path = Path(name) if name else None
    return path.resolve() if path is not None and path.suffix in SUFFIXES else None


def shares_folder(one: Path, other: Path) -> bool:
    """Return whether two files may belong to one benchmark: the folder of one holds the other."""
    return other.is_relative_to(one.parent) or one.is_relative_to(other.parent)


def server(programs: str) -> SpecServer:
    """Return a server with all of its features."""
    language_server = SpecServer(programs)

    @language_server.feature(lsp.INITIALIZED)
    async def initialized(ls: SpecServer, _: lsp.InitializedParams) -> None:
        assert ls.files is not None
        workspace = ls.client_capabilities.workspace
        watches = workspace.did_change_watched_files if workspace is not None else None
        if watches is not None and watches.dynamic_registration:
            options = lsp.DidChangeWatchedFilesRegistrationOptions([lsp.FileSystemWatcher(WATCHED)])
            registration = lsp.Registration("files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            await ls.client_register_capability_async(lsp.RegistrationParams([registration]))

    @language_server.feature(lsp.SHUTDOWN)
    async def shutdown(ls: SpecServer, *_: Any) -> None:
        if ls.schedule is not None:
            await ls.schedule.close()

    @language_server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(ls: SpecServer, params: lsp.DidOpenTextDocumentParams) -> None:
        ls.put(params.text_document.uri, params.text_document.text, params.text_document.version)

    @language_server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(ls: SpecServer, params: lsp.DidChangeTextDocumentParams) -> None:
        text = ls.workspace.get_text_document(params.text_document.uri).source
        ls.put(params.text_document.uri, text, params.text_document.version)

    @language_server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(ls: SpecServer, params: lsp.DidSaveTextDocumentParams) -> None:
        path = path_of(params.text_document.uri)
        if path is not None:
            ls.touch_others(path)

    @language_server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(ls: SpecServer, params: lsp.DidCloseTextDocumentParams) -> None:
        ls.drop(params.text_document.uri)

    @language_server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(ls: SpecServer, params: lsp.DidChangeWatchedFilesParams) -> None:
        for change in params.changes:
            name = to_fs_path(change.uri)
            if name is not None:
                ls.touch_others(Path(name).resolve())

    _add_questions(language_server)
    return language_server


def _add_questions(language_server: SpecServer) -> None:
    """Add the handlers of requests about a position."""

    @language_server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=TRIGGERS))
    def complete(ls: SpecServer, params: lsp.CompletionParams) -> lsp.CompletionList:
        knowledge = ls.known(params)
        items = []
        for at, entry in enumerate(completions(knowledge) if knowledge is not None else ()):
            assert knowledge is not None
            edit = lsp.TextEdit(ls.range(knowledge.lines, entry.start, entry.end), entry.text)
            doc = markdown(entry.doc) if entry.doc else None
            items.append(lsp.CompletionItem(entry.label, kind=KINDS[entry.kind], detail=entry.detail or None,
                                            documentation=doc, text_edit=edit, sort_text=f"{at:05}"))  # fmt: skip
        return lsp.CompletionList(is_incomplete=False, items=items)

    @language_server.feature(lsp.COMPLETION_ITEM_RESOLVE)
    def resolve(ls: SpecServer, item: lsp.CompletionItem) -> lsp.CompletionItem:
        if item.documentation is None and item.kind == KINDS[FUNCTION] and item.label in library():
            item.documentation = markdown(function_words(item.label))
        return item

    @language_server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def show(ls: SpecServer, params: lsp.HoverParams) -> lsp.Hover | None:
        knowledge = ls.known(params)
        words = hover(knowledge) if knowledge is not None else None
        if knowledge is None or words is None:
            return None
        return lsp.Hover(markdown(words), ls.range(knowledge.lines, *knowledge.lines.word_at(knowledge.offset)))

    @language_server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def define(ls: SpecServer, params: lsp.DefinitionParams) -> lsp.Location | None:
        knowledge = ls.known(params)
        place = definition(knowledge) if knowledge is not None else None
        return ls.location(place) if place is not None else None

    @language_server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix]))
    def repair(ls: SpecServer, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        file = ls.file(params.text_document.uri)
        if file is None or file.check is None:
            return []
        lines, actions = Lines(file.text), []
        for entry in file.check.of_file(file.path):
            reported = ls.diagnostic(entry, lines)
            if (
                reported.range.start.line <= params.range.end.line
                and reported.range.end.line >= params.range.start.line
            ):
                for fix in fixes(file.text, entry):
                    edit = lsp.TextEdit(ls.range(lines, fix.start, fix.end), fix.text)
                    actions.append(lsp.CodeAction(fix.title, lsp.CodeActionKind.QuickFix, [reported], is_preferred=True,
                                                  edit=lsp.WorkspaceEdit(changes={file.uri: [edit]})))  # fmt: skip
        return actions

    @language_server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def format_text(ls: SpecServer, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        file = ls.file(params.text_document.uri)
        text = formatted(file.text) if file is not None else None
        return ls.edits(Lines(file.text), file.text, text) if file is not None and text is not None else None

    @language_server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare_rename(ls: SpecServer, params: lsp.PrepareRenameParams) -> lsp.Range | None:
        knowledge = ls.known(params)
        symbol = symbol_at(knowledge) if knowledge is not None else None
        if knowledge is None or symbol is None or symbol.kind not in RENAMED:
            return None
        return ls.range(knowledge.lines, *knowledge.lines.word_at(knowledge.offset))

    @language_server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    async def rename(ls: SpecServer, params: lsp.RenameParams) -> lsp.WorkspaceEdit:
        knowledge = ls.known(params)
        try:
            if knowledge is None:
                raise RenameError("this file is not a spec")
            return await ls.rename(knowledge, params.new_name)
        except RenameError as error:
            raise JsonRpcInvalidParams(str(error)) from None


def _is_news(record: logging.LogRecord) -> bool:
    """Return whether a log record is not just a rejected request, which the editor shows anyway."""
    return not (record.exc_info and isinstance(record.exc_info[1], JsonRpcInvalidParams))


def serve(programs: str) -> None:
    """Serve the editor that started this program, until it ends. Nothing else may write to standard output."""
    own_input, own_output = os.dup(0), os.dup(1)
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_news)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    with os.fdopen(own_input, "rb") as source, os.fdopen(own_output, "wb") as target:
        server(programs).start_io(source, target)
