"""An editor for `dia lsp`, written from the Language Server Protocol 3.17: Content-Length frames with JSON-RPC 2.0."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from helpers.places import ROOT

PATIENCE = 30.0  # seconds after which an answer is missing


class Editor:
    """An editor that has started a server, with the texts of the files that it shows."""

    def __init__(self, folder: Path, units: str = "utf-16") -> None:
        path = os.pathsep.join([str(ROOT / "compiler"), str(ROOT / "runtime"), os.environ.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dia_compiler", "lsp", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path},
        )
        self.messages: queue.Queue[dict[str, Any]] = queue.Queue()
        self.number = 0
        self.texts: dict[Path, str] = {}
        self.versions: dict[Path, int] = {}
        self.diagnostics: dict[Path, list[dict[str, Any]]] = {}
        self.published: dict[tuple[Path, int | None], int] = {}
        threading.Thread(target=self._read, daemon=True).start()
        capabilities = {"general": {"positionEncodings": [units]}, "workspace": {"workspaceEdit": {}}}
        about = {"processId": os.getpid(), "rootUri": folder.as_uri(), "capabilities": capabilities}
        self.abilities = self.ask("initialize", about)["capabilities"]
        self.tell("initialized", {})

    def _read(self) -> None:
        assert self.process.stdout is not None
        while True:
            size = 0
            while (header := self.process.stdout.readline().strip()) != b"":
                name, _, value = header.partition(b":")
                size = int(value) if name == b"Content-Length" else size
            if not size:
                return
            self.messages.put(json.loads(self.process.stdout.read(size)))

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def tell(self, method: str, params: Any) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def ask(self, method: str, params: Any) -> Any:
        """Return the server's result. Raises RuntimeError with the message of an error."""
        self.number += 1
        number = self.number
        self._send({"id": number, "method": method, "params": params})
        while True:
            message = self._next(PATIENCE)
            assert message is not None, f"no answer to {method}"
            if message.get("id") == number and "method" not in message:
                if "error" in message:
                    raise RuntimeError(message["error"]["message"])
                return message["result"]

    def _next(self, seconds: float) -> dict[str, Any] | None:
        """Take the next message, and note the diagnostics in it."""
        try:
            message = self.messages.get(timeout=seconds)
        except queue.Empty:
            return None
        if message.get("method") == "textDocument/publishDiagnostics":
            params = message["params"]
            path = Path.from_uri(params["uri"]) if hasattr(Path, "from_uri") else Path(params["uri"][7:])
            self.diagnostics[path] = params["diagnostics"]
            key = (path, params.get("version"))
            self.published[key] = self.published.get(key, 0) + 1
        elif "id" in message and "method" in message:
            self._send({"id": message["id"], "result": None})
        return message

    def show(self, path: Path, text: str) -> None:
        """Open a file, or change its text."""
        is_new = path not in self.texts
        self.texts[path], self.versions[path] = text, self.versions.get(path, 0) + 1
        document = {"uri": path.as_uri(), "version": self.versions[path]}
        if is_new:
            self.tell("textDocument/didOpen", {"textDocument": {**document, "languageId": "yaml", "text": text}})
        else:
            self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def close(self, path: Path) -> None:
        """Close a file."""
        del self.texts[path]
        self.tell("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})

    def wait(self, path: Path, checks: int = 2) -> list[dict[str, Any]]:
        """Return the diagnostics of the shown text once it was checked: by its text (1), and by its instances (2)."""
        key = (path, self.versions[path])
        self.wait_until(lambda: self.published.get(key, 0) >= checks)
        return self.diagnostics[path]

    def wait_until(self, is_there: Callable[[], bool]) -> None:
        """Take messages until something is there."""
        end = time.monotonic() + PATIENCE
        while not is_there():
            assert time.monotonic() < end, f"this never comes; the diagnostics are {self.diagnostics}"
            self._next(0.1)

    def at(self, path: Path, offset: int) -> dict[str, Any]:
        """Return the parameters of a request about a character of a file, in UTF-16 units."""
        before = self.texts[path][:offset].split("\n")
        units = len(before[-1].encode("utf-16-le")) // 2
        return {
            "textDocument": {"uri": path.as_uri()},
            "position": {"line": len(before) - 1, "character": units},
        }

    def applied(self, path: Path, edits: list[dict[str, Any]]) -> str:
        """Return the text of a file after some edits of the server."""
        lines = self.texts[path].split("\n")

        def offset(place: dict[str, int]) -> int:
            head = lines[place["line"]].encode("utf-16-le")[: 2 * place["character"]].decode("utf-16-le")
            return sum(len(line) + 1 for line in lines[: place["line"]]) + len(head)

        text = self.texts[path]
        for edit in sorted(edits, key=lambda one: offset(one["range"]["start"]), reverse=True):
            text = text[: offset(edit["range"]["start"])] + edit["newText"] + text[offset(edit["range"]["end"]) :]
        return text

    def end(self) -> int:
        """End the server as the protocol says, and return its exit code."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        return self.process.wait(PATIENCE)
