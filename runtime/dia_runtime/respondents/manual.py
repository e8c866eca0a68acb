"""`manual:DIR`: prompts as files; a person asks any model and pastes the replies into files next to them.

Each prompt is `0001-<question>.txt`; its reply is read from `0001-<question>.reply.txt`, or from below the heading
`## 0001-<question>` in `replies.md`. No file that is there is ever written to.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from dia_language.diagnostics import DiaError, Diagnostic, visible

from dia_runtime.respondents.reply_records import LONGEST_TEXT
from dia_runtime.respondents.respondent import LocalRespondent, Reply, RequestError
from dia_runtime.respondents.turn_request import TurnRequest

if TYPE_CHECKING:
    from dia_runtime.respondents.chat import Settings
    from dia_runtime.respondents.registry import ModelOptions

REPLIES_FILE, README_FILE = "replies.md", "README.md"
LARGEST_REPLIES_FILE = 1 << 28
HEADING = re.compile(r"^## +([0-9]{4,}-\S+)[ \t]*$", re.MULTILINE)
UNSAFE = re.compile(r"[^A-Za-z0-9._]+")
README = """# Ask by hand

Each file `0001-....txt` is a prompt. Put it to the model, in a new conversation each time, as it stands. Files named
`0001-....asset-...` belong to the prompt of that number: attach them.

Write the whole reply, as it came, to a file of the same name that ends in `.reply.txt`:

    0001-sums-add-0.txt          the prompt
    0001-sums-add-0.reply.txt    its reply

or write several replies to one file `replies.md`, each below its heading:

    ## 0001-sums-add-0

    the reply

A question that is made of conversations has a prompt for each turn, such as `0002-talk-0.tell.1.txt` and
`0002-talk-0.tell.2.txt`: `tell` is one conversation, and its prompts are put one after the other into the same window.
The second one is written when the first has its reply.

Then give the same command again: it reads what is there, and says how many replies are still to come. White space
around a reply is left out. What has been read is in the run; changing its file changes nothing any more.
"""


class Manual(LocalRespondent):
    """A person who asks a model in another window."""

    takes_prefill = False

    def __init__(self, name: str, folder: str, settings: Settings, options: ModelOptions) -> None:
        """Raises DiaError (exit 2) where no folder is named."""
        if not folder or "\0" in folder or os.path.isfile(folder):  # noqa: PTH113 - pathlib raises where a name is too long
            message = visible(f"`manual:{folder}` does not name a folder")
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
        """The reply that was pasted. Raises RequestError (`later`) while there is none; the prompt is written first."""
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
            raise RequestError("request", f"the reply to {stem} is longer than {LONGEST_TEXT} characters")
        return Reply(text)

    def _open_folder(self) -> None:
        """Makes the folder, and reads what is in it."""
        if self.is_open:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        _write_new(self.folder / README_FILE, README.encode(), may_differ=True)
        if self.options.bundle is not None:
            self.numbers = {record["id"]: at for at, record in enumerate(self.options.bundle.questions(), 1)}
        self.replies_by_stem = _sections(self.folder / REPLIES_FILE)
        self.is_open = True

    def _stem(self, question: str, attempt: int) -> str:
        """The name of the question's files, without their endings."""
        number = self.numbers.setdefault(question, len(self.numbers) + 1)
        stem = f"{number:04}-{UNSAFE.sub('-', question).strip('-.')[:100]}"
        return stem if attempt == 1 else f"{stem}-attempt-{attempt}"

    def _write_prompt(self, stem: str, question: Mapping[str, Any]) -> None:
        """Writes the prompt and its assets unless they are there. Raises RequestError where another prompt is."""
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
        """The reply in its own file, else the one below its heading; None where there is none."""
        path = self.folder / f"{stem}.reply.txt"
        if path.is_file():
            text = _read(path, 4 * LONGEST_TEXT).strip()
            if text:
                return text
        return self.replies_by_stem.get(stem)


def _turn_suffix(question: Mapping[str, Any]) -> str:
    """What the names of a turn's files have behind those of its question."""
    if not isinstance(question, TurnRequest):
        return ""
    session, *places = question.place
    numbers = [str(place + 1) for place in places if place >= 0]
    return ".".join(["", UNSAFE.sub("-", session).strip("-.")[:60], *numbers])


def prompt_text(question: Mapping[str, Any], system: str | None) -> str:
    """The text to put to the model: the message itself; of several, each behind the name of who speaks.

    In the middle of a conversation it is what the turn adds.
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
    """Writes a new file, or the rest of one whose writing was cut. Raises RequestError where another file is."""
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
    """The text of a file. Raises RequestError for what is no text."""
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
