"""The replies of a run as in `schemas/reply.schema.json`: JSON Lines, or Parquet with the same columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from dia_language.diagnostics import DiaError, Diagnostic, did_you_mean, visible
from dia_runtime.integrations.exporting.base import Files, json_line, json_text
from dia_runtime.integrations.exporting.parquet_writer import INTEGER, TEXT, parquet
from dia_runtime.store.schema import REPLY_COLUMNS, StoredRespondent
from dia_runtime.store.store import Store

INTEGERS = frozenset({"attempt", "prompt_tokens", "completion_tokens", "reasoning_tokens", "tries"})
OWN_COLUMNS = ("bundle", "questions_root", "respondent", "model", "settings")
COLUMNS = (*OWN_COLUMNS, "question", "attempt", *REPLY_COLUMNS)
Record = Mapping[str, Any]


class RunExporter(Protocol):
    """A format for the replies of a run."""

    def files(self, store: Store, respondents: Sequence[StoredRespondent]) -> Files:
        """Yield the path and pieces of every file; each must be read to its end before the next. Raises DiaError."""
        ...


class Replies:
    """One reply per line, with sorted keys."""

    def files(self, store: Store, respondents: Sequence[StoredRespondent]) -> Files:
        """Yield one file."""
        yield "replies.jsonl", (json_line(record) for record in _records(store, respondents))


class RepliesParquet:
    """The same as one Parquet table, with the settings as JSON text."""

    def files(self, store: Store, respondents: Sequence[StoredRespondent]) -> Files:
        """Yield one file. Raises DiaError (exit 2) if pyarrow is missing."""
        columns = {name: INTEGER if name in INTEGERS else TEXT for name in COLUMNS}
        rows = (_row(record) for record in _records(store, respondents))
        yield "replies.parquet", parquet(columns, rows, "`replies`")


RUN_EXPORTERS: dict[str, RunExporter] = {
    "replies": Replies(),
    "replies-parquet": RepliesParquet(),
}


def respondents_of(store: Store, names: Sequence[str] = ()) -> list[StoredRespondent]:
    """Return the respondents of a run by name, all or the requested ones. Raises DiaError (exit 2)."""
    by_name = {entry.name: entry for entry in store.respondents()}
    for name in names:
        if name not in by_name:
            help = did_you_mean(name, by_name) or "it contains " + (
                ", ".join(f"`{name}`" for name in by_name) or "none"
            )
            message = visible(f"`{store.path}` has no respondent `{name}`")
            raise DiaError(Diagnostic("E806", message, None, visible(help)))
    return [by_name[name] for name in sorted(by_name) if not names or name in names]


def _records(store: Store, respondents: Sequence[StoredRespondent]) -> Iterator[Record]:
    """Yield every reply, ordered by respondent's name, then by question and attempt."""
    facts = store.facts
    for entry in respondents:
        settings = store.parsed(entry.settings)
        values = (facts.get("bundle_id"), facts.get("questions_root"), entry.name, entry.model, settings)
        respondent_columns = {name: value for name, value in zip(OWN_COLUMNS, values, strict=True) if value is not None}
        for reply in store.replies_of(entry.id):
            transcript = reply["tool_transcript"]
            yield (
                respondent_columns
                | reply
                | ({} if transcript is None else {"tool_transcript": store.parsed(transcript)})
            )


def _row(record: Record) -> Record:
    transcript = record["tool_transcript"]
    return {
        **record,
        "settings": json_text(record["settings"]),
        "tool_transcript": None if transcript is None else json_text(transcript),
    }
