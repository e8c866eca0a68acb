"""The YAML language server, which most editors use, completes specs by our schemas and underlines what is wrong."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.places import ROOT

pytestmark = pytest.mark.harness
SCHEMA = ROOT / "schemas" / "template.schema.json"
HEAD = "template: a\ntitle: A\n"


class Editor:
    """An editor that speaks the Language Server Protocol 3.17 to a server over its standard streams."""

    def __init__(self, server: subprocess.Popen[bytes]) -> None:
        self.server, self.calls, self.files = server, 0, 0
        self.settings = {"validate": True, "completion": True, "schemas": {SCHEMA.as_uri(): "*.yaml"},
                         "schemaStore": {"enable": False}}  # fmt: skip
        capabilities = {"workspace": {"configuration": True}}
        self.call("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities})
        self.send({"method": "initialized", "params": {}})
        changed = {"settings": {"yaml": self.settings}}
        self.send({"method": "workspace/didChangeConfiguration", "params": changed})

    def send(self, message: dict[str, Any]) -> None:
        encoded = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.server.stdin is not None
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(encoded) + encoded)
        self.server.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """The server's next message, after answering it if it asks for settings."""
        assert self.server.stdout is not None
        size = 0
        while line := self.server.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
        message: dict[str, Any] = json.loads(self.server.stdout.read(size))
        if "method" in message and "id" in message:
            is_settings = message["method"] == "workspace/configuration"
            items = message["params"]["items"] if is_settings else []
            result = [self.settings if item.get("section") == "yaml" else None for item in items]
            self.send({"id": message["id"], "result": result if is_settings else None})
        return message

    def call(self, method: str, params: dict[str, Any]) -> Any:
        self.calls += 1
        self.send({"id": self.calls, "method": method, "params": params})
        while True:
            message = self.receive()
            if message.get("id") == self.calls and "method" not in message:
                return message["result"]

    def open(self, text: str) -> tuple[str, list[str]]:
        """The file's address, and the lines that are underlined."""
        self.files += 1
        uri = f"file:///{self.files}.yaml"
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        self.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        while True:
            message = self.receive()
            if message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri:
                lines = text.split("\n")
                numbers = sorted({entry["range"]["start"]["line"] for entry in message["params"]["diagnostics"]})
                return uri, [lines[number].strip() for number in numbers]

    def complete(self, text: str) -> set[str]:
        """What is offered where `^` stands."""
        before, _, after = text.partition("^")
        uri, _ = self.open(before + after)
        lines = before.split("\n")
        position = {"line": len(lines) - 1, "character": len(lines[-1])}
        found = self.call("textDocument/completion", {"textDocument": {"uri": uri}, "position": position})
        return {item["label"] for item in found["items"]}


@pytest.fixture(scope="module")
def editor(environment: Callable[[str], Path]) -> Iterator[Editor]:
    program = environment("yaml-language-server") / "yaml-language-server"
    with subprocess.Popen([str(program), "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        yield Editor(server)
        server.kill()


@pytest.mark.parametrize(
    ("text", "offered", "withheld"),
    [
        ("params:\n  n: {type: ^}\n", {"integer", "prime", "rows"}, set()),
        ("params:\n  n:\n    type: ^\n", {"integer", "prime", "rows"}, set()),
        ("params:\n  n: {type: integer, m^}\n", {"min", "max", "parity", "where"}, {"length"}),
        ("params:\n  n:\n    type: list\n    ^\n", {"of", "length", "unique"}, {"parity"}),
        ("params:\n  n: {type: list, of: {type: ^}}\n", {"integer", "prime"}, set()),
        ("answer: {value: n, type: ^}\n", {"integer", "list", "record"}, set()),
        ("answer:\n  value: n\n  type: ^\n", {"integer", "list", "record"}, set()),
        ("answer: {value: n, type: real, t^}\n", {"tolerance", "round", "units", "accept"}, {"case"}),
        ("answer: {value: n, type: list, of: {type: ^}}\n", {"integer", "text"}, set()),
        ("format: {kind: ^}\n", {"xml", "letter"}, set()),
        ("format: {kind: json, k^}\n", {"key"}, {"tag"}),
        ("assets:\n  a: {build: ^}\n", {"qr", "zip"}, set()),
    ],
)
def test_names_and_options_are_completed(editor: Editor, text: str, offered: set[str], withheld: set[str]) -> None:
    found = editor.complete(HEAD + text)
    assert offered <= found and not withheld & found


def test_what_does_not_exist_is_underlined(editor: Editor) -> None:
    wrong = ["n: {type: int, min: 2}", "m: {type: itneger}", "o: {type: integer, minimum: 3}"]
    right = ["p: {type: integer, min: 2, max: 3}", "q: {type: list, of: {type: prime, bits: 9}, length: 3}"]
    params = "params:\n" + "".join(f"  {line}\n" for line in [*wrong, *right])
    _, underlined = editor.open(HEAD + params + "answer: {value: n, type: integr}\nprompt: A\n")
    assert underlined == [*wrong, "answer: {value: n, type: integr}"]
