"""Build the assets of an instance from their options and its random stream."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from dia_compiler.analyze.domains import Scope
from dia_compiler.analyze.plan import INLINE, AssetCode
from dia_compiler.analyze.worker_resources import WorkerResources
from dia_compiler.assets.base import Entropy, OptionFault, Site
from dia_compiler.sampling.instance_tree import Stream, derived
from dia_language.diagnostics import DiaError, Diagnostic, LanguageError
from dia_language.numbers.values import Value
from dia_language.templates.templates import delivered_name
from dia_runtime.bundle.atomic_output import write_error

LARGEST = 16 << 20  # bytes of one artefact


def entropy(key: bytes) -> Entropy:
    """Return the bytes of a key's stream, for builders."""
    stream = Stream(key)
    return lambda count: stream.bits(8 * count).to_bytes(count, "little")


@dataclass(frozen=True, slots=True)
class Artefact:
    """A file that accompanies the prompt: its name, kind, delivery and bytes."""

    name: str
    extension: str
    media_type: str
    deliver: str
    content: bytes
    digest: str

    def record(self) -> dict[str, Any]:
        """Return the artefact as a question stores it."""
        return {
            "name": self.name,
            "sha256": self.digest,
            "path": f"assets/{self.digest}.{self.extension}",
            "media_type": self.media_type,
            "size": len(self.content),
            "deliver": self.deliver,
        }


class AssetBuilder:
    """Builds the assets of one template; the last result is reused for other wordings of the instance."""

    def __init__(self, codes: Mapping[str, AssetCode], resources: WorkerResources) -> None:
        self.codes, self.resources = codes, resources
        self.last: dict[str, tuple[Any, str | bytes]] = {}
        self.file_names: dict[str, str] = {}  # of the assets that were built last
        self.own: tempfile.TemporaryDirectory[str] | None = None

    @cached_property
    def folder(self) -> Path:
        """The folder for temporary files of builders; it may not exist yet."""
        if self.resources.scratch:
            return Path(self.resources.scratch)
        self.own = tempfile.TemporaryDirectory(prefix="dia-assets-", ignore_cleanup_errors=True)
        return Path(self.own.name)

    def build(self, name: str, scope: Scope, key: bytes, position: int) -> None:
        """Put the artefact of an instance into the scope, and the text that prompts print for it. Raises DiaError."""
        code = self.codes[name]
        options = code.values(scope)
        self.file_names[name] = self.file_name(code, options)
        inputs = (key, position, options)
        last = self.last.get(name)
        content = last[1] if last is not None and last[0] == inputs else self.built(code, options, key, position)
        self.last[name] = (inputs, content)
        scope[name] = content
        scope[delivered_name(name)] = printed(code, content, self.file_names[name])

    def file_name(self, code: AssetCode, options: Mapping[str, Value]) -> str:
        """Return the name of the asset's file. Raises DiaError if it cannot be one, or if another file has it."""
        name = code.asset.name
        try:
            file_name = code.builder.file_name(name, options)
            for other, other_code in self.codes.items() if code.deliver != INLINE else ():
                is_other = other != name and other_code.deliver != INLINE
                if is_other and self.file_names.get(other, "").lower() == file_name.lower():
                    raise OptionFault("file_name", f"`{other}` has the same file name, {self.file_names[other]}")
        except OptionFault as fault:
            raise code.fault(fault) from None
        return file_name

    def built(self, code: AssetCode, options: dict[str, Value], key: bytes, position: int) -> str | bytes:
        """Return the artefact. Raises DiaError at an invalid option."""
        try:
            code.builder.validate(options)
            site = Site(entropy(derived(key, "asset", code.asset.name, position)), self.folder)
            content = code.builder.build(options, site)
        except OptionFault as fault:
            raise code.fault(fault) from None
        except LanguageError as error:
            raise DiaError(Diagnostic(error.code, error.message, code.asset.position, error.help)) from None
        except OSError as error:  # a full or inaccessible disk is not an error of the spec
            failure = f"`{code.asset.name}` cannot be built"
            raise write_error(failure, error, "set TMPDIR to a folder on another disk") from None
        size = len(content.encode() if isinstance(content, str) else content)
        if size > LARGEST:
            message = f"`{code.asset.name}` has {size:,} bytes; an artefact may have at most {LARGEST:,}"
            raise DiaError(Diagnostic("E502", message, code.asset.position, "make its content smaller"))
        return content

    def attachments(self, scope: Scope) -> tuple[Artefact, ...]:
        """Return the artefacts in the scope that are delivered outside the prompt."""
        return tuple(
            _artefact(code, scope[name], self.file_names[name])
            for name, code in self.codes.items()
            if code.deliver != INLINE
        )

    def inlined(self) -> tuple[Artefact, ...]:
        """Return the last artefacts that are delivered inside the prompt."""
        return tuple(
            _artefact(code, self.last[name][1], self.file_names[name])
            for name, code in self.codes.items()
            if code.deliver == INLINE and name in self.last
        )


def printed(code: AssetCode, content: str | bytes, file_name: str) -> str:
    """Return what a prompt contains for the asset: the text, the bytes in base64, or the name of the attached file."""
    if code.deliver != INLINE:
        return file_name
    return content if isinstance(content, str) else base64.b64encode(content).decode("ascii")


def _artefact(code: AssetCode, content: str | bytes, file_name: str) -> Artefact:
    encoded = content.encode() if isinstance(content, str) else content
    digest = sha256(encoded).hexdigest()
    return Artefact(file_name, code.builder.extension, code.builder.media_type, code.deliver, encoded, digest)
