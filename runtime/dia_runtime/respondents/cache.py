"""Replies of earlier runs, for requests that are exactly the same; only used with `--cache`."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from dia_runtime.respondents.reply_records import reply_from_record
from dia_runtime.respondents.respondent import AsyncRespondent, Reply, RequestError
from dia_runtime.respondents.tool_request import conversation_of
from dia_runtime.respondents.turn_request import TurnRequest

SCHEMA = "CREATE TABLE IF NOT EXISTS reply (key BLOB PRIMARY KEY, reply TEXT NOT NULL) STRICT, WITHOUT ROWID"


class ReplyCache:
    """A file of replies by the digest of their requests. An unusable file counts as empty."""

    def __init__(self, path: Path) -> None:
        self.connection: sqlite3.Connection | None = None
        with suppress(sqlite3.Error, OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            self.connection = sqlite3.connect(path, isolation_level=None, timeout=10)
            for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL", SCHEMA):
                self.connection.execute(statement)

    def key(self, respondent: AsyncRespondent, question: Mapping[str, Any], attempt: int) -> bytes | None:
        """Return the digest of the request: endpoint, model, messages with their files, parameters, attempt.

        None if the respondent cannot say what it would send.
        """
        request = getattr(respondent, "request", None)
        if request is None:
            return None
        try:
            key = {"endpoint": respondent.provider, "attempt": attempt, "request": request(question)}
            if conversation_of(question) is not None:  # limits of the tools, which requests do not contain
                key["tools"] = respondent.settings["tools"]
            if isinstance(question, TurnRequest):  # what is asked twice in one question has two replies
                key["turn"] = question.place
        except RequestError:
            return None
        return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).digest()

    def get(self, key: bytes) -> Reply | None:
        """Return the cached reply to a request, at no cost and without tries; None if there is none."""
        with suppress(sqlite3.Error, ValueError, AttributeError, RecursionError):
            if self.connection is not None:
                rows = self.connection.execute("SELECT reply FROM reply WHERE key = ?", (key,)).fetchall()
                if rows:
                    return replace(reply_from_record(json.loads(rows[0][0])), cost="0", tries=0)
        return None

    def put(self, key: bytes, reply: Reply) -> None:
        """Store a reply. Errors are not stored, because a retry may succeed."""
        if reply.error is None and self.connection is not None:
            with suppress(sqlite3.Error, UnicodeError):
                encoded = json.dumps(asdict(reply))
                self.connection.execute("INSERT OR REPLACE INTO reply VALUES (?, ?)", (key, encoded))

    def close(self) -> None:
        """Close the file."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None
