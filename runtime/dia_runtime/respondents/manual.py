"""`manual:DIR`: prompts as files; a person asks any model and pastes the replies into files next to them.

Each prompt is `0001-<question>.txt`; its reply is read from `0001-<question>.reply.txt`, or from below the heading
`## 0001-<question>` in `replies.md`. Existing files are never changed.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from dia_language.diagnostics import DiaError, Diagnostic, visible

from dia_runtime.respondents.respondent import LocalRespondent, Reply, RequestError
from dia_runtime.respondents.turn_request import TurnRequest
from dia_runtime.store.schema import LONGEST_TEXT

if TYPE_CHECKING:
    from dia_runtime.respondents.chat import Settings
    from dia_runtime.respondents.registry import ModelOptions

REPLIES_FILE, README_FILE = "replies.md", "README.md"
LARGEST_REPLIES_FILE = 1 << 28
HEADING = re.compile(r"^## +([0-9]{4,}-\S+)[ \t]*$", re.MULTILINE)
UNSAFE = re.compile(r"[^A-Za-z0-9._]+")
README = """# Ask by hand

Each file `0001-....txt` is a prompt. Paste it into a new conversation with the model, without changes. If there are
files named `0001-....asset-...`, attach them to the prompt with that number.

Save the whole reply, without changes, in a file with the same name that ends in `.reply.txt`:

    0001-sums-add-0.txt          the prompt
    0001-sums-add-0.reply.txt    its reply

or save several replies in one file `replies.md`, each under the name of its prompt:

    ## 0001-sums-add-0

    the reply

Some questions are conversations with a prompt for each turn, such as `0002-talk-0.chat.1.txt` and
`0002-talk-0.chat.2.txt`. `chat` is one conversation: paste its prompts one after the other into the same window. The
second prompt is written when the first has its reply.

Then repeat the command: it reads the replies and says how many are still missing. White space around a reply is
removed. Once a reply has been read, changing its file has no effect.
"""


class Manual(LocalRespondent):
    """A person who asks a model in another window."""

    takes_prefill = False

    def __init__(self, name: str, folder: str, settings: Settings, options: ModelOptions) -> None:
        """Raises DiaError (exit 2) if the argument is not a folder."""
        if not folder or "\0" in folder or os.path.isfile(folder):  # noqa: PTH113 - pathlib raises where a name is too long
            why = "is a file, not a folder" if folder and "\0" not in folder else "does not name a folder"
            message = visible(f"`manual:{folder}` {why}")
            raise DiaError(Diagnostic("E844", message, None, "write manual:FOLDER; the folder is created if needed"))
        super().__init__(name, f"manual:{folder}")
        self.folder = Path(folder)
        self.base_settings, self.options = settings, options
        self.numbers: dict[str, int] = {}
        self.replies_by_stem: dict[str, str] = {}
        self.is_open = False

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return the settings that the person was asked to use."""
        return self.base_settings.stored()

    async def ask(self, question: Mapping[str, Any], attempt: int) -> Reply:
        """Return the pasted reply. Writes the prompt first; raises RequestError (`later`) while there is no reply."""
        await asyncio.sleep(0)  # so that an interrupt is heard
        try:
            self._open_folder()
            stem = self._stem(question["id"], attempt) + _turn_suffix(question)
            self._write_prompt(stem, question)
            text = self._read_reply(stem)
        except OSError as error:
            raise RequestError("fatal", visible(f"{error.filename or self.folder}: {error.strerror}")) from None
        if text is None:
            raise RequestError("later", f"{stem}.txt waits for its reply")
        if len(text) > LONGEST_TEXT:
            raise RequestError("request", f"the reply to {stem} is longer than {LONGEST_TEXT:,} characters")
        return Reply(text)

    def _open_folder(self) -> None:
        """Create the folder, and read the replies in it."""
        if self.is_open:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        _write_new(self.folder / README_FILE, README.encode(), may_differ=True)
        if self.options.bundle is not None:
            self.numbers = {record["id"]: at for at, record in enumerate(self.options.bundle.questions(), 1)}
        self.replies_by_stem = _sections(self.folder / REPLIES_FILE)
        self.is_open = True

    def _stem(self, question: str, attempt: int) -> str:
        """Return the name of the question's files, without their endings."""
        number = self.numbers.setdefault(question, len(self.numbers) + 1)
        stem = f"{number:04}-{UNSAFE.sub('-', question).strip('-.')[:100]}"
        return stem if attempt == 1 else f"{stem}-attempt-{attempt}"

    def _write_prompt(self, stem: str, question: Mapping[str, Any]) -> None:
        """Write the prompt and its assets unless they exist. Raises RequestError for files of another prompt."""
        is_first = not isinstance(question, TurnRequest) or question["added"] == len(question["messages"])
        for asset in (question.get("assets") or ()) if is_first else ():
            if self.options.read is None:
                raise RequestError("request", f"the asset {asset['name']} is not available")
            name = UNSAFE.sub("-", asset["name"]).strip("-.")[:60]
            ending = PurePosixPath(asset["path"]).suffix
            file_name = name if name.endswith(ending) else name + ending
            _write_new(self.folder / f"{stem}.asset-{file_name}", self.options.read(asset["path"]))
        _write_new(self.folder / f"{stem}.txt", prompt_text(question, self.base_settings.system).encode())

    def _read_reply(self, stem: str) -> str | None:
        """Return the reply in its own file, or the one under its heading; None if there is none."""
        path = self.folder / f"{stem}.reply.txt"
        if path.is_file():
            text = _read(path, 4 * LONGEST_TEXT).strip()
            if text:
                return text
        return self.replies_by_stem.get(stem)


def _turn_suffix(question: Mapping[str, Any]) -> str:
    """Return what follows the question's name in the file names of a turn."""
    if not isinstance(question, TurnRequest):
        return ""
    session, *places = question.place
    numbers = [str(place + 1) for place in places if place >= 0]
    return ".".join(["", UNSAFE.sub("-", session).strip("-.")[:60], *numbers])


def prompt_text(question: Mapping[str, Any], system: str | None) -> str:
    """Return the text of a prompt file: the message; if there are several, each with the name of its role.

    In the middle of a conversation, it contains only the new messages.
    """
    conversation = question["messages"]
    if isinstance(question, TurnRequest):
        system = None if conversation[0]["role"] == "system" or question["added"] < len(conversation) else system
        conversation = conversation[len(conversation) - question["added"] :]
    messages = [*([{"role": "system", "content": system}] if system else []), *conversation]
    if len(messages) == 1:
        return str(messages[0]["content"])
    return "\n\n".join(f"[{message['role']}]\n{message['content']}" for message in messages)


def _write_new(path: Path, content: bytes, may_differ: bool = False) -> None:
    """Write a new file, or the rest of an incomplete one. Raises RequestError if another file exists."""
    try:
        with path.open("xb") as file:
            file.write(content)
    except FileExistsError:
        existing = path.read_bytes()
        if not may_differ and not content.startswith(existing):
            raise RequestError("fatal", visible(f"{path} belongs to another prompt; choose another folder")) from None
        if not may_differ and len(existing) < len(content):
            with path.open("ab") as file:
                file.write(content[len(existing) :])


def _read(path: Path, most: int) -> str:
    """Return the text of a file. Raises RequestError if it is not UTF-8 or too large."""
    if path.stat().st_size > most:
        raise RequestError("request", visible(f"{path} is larger than {most >> 20} MiB"))
    try:
        return path.read_text(encoding="utf-8-sig")
    except ValueError:
        raise RequestError("request", visible(f"{path} is not UTF-8")) from None


def _sections(path: Path) -> dict[str, str]:
    """Return the text below each heading."""
    if not path.is_file():
        return {}
    parts = HEADING.split(_read(path, LARGEST_REPLIES_FILE))
    texts = {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}
    return {name: text for name, text in texts.items() if text}
