"""Requests for OpenAI's batch interface: one line for each question, identified by `custom_id`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic
from dia_runtime.bundle.open import Bundle
from dia_runtime.integrations.exporting.base import Exporter, Files, json_line, questions_and_answers
from dia_runtime.respondents.chat import Settings, chat_messages
from dia_runtime.respondents.respondent import RequestError

REQUESTS = 50_000  # in a file, the maximum that OpenAI accepts


class OpenAiBatch(Exporter):
    """Files to upload; `dia import --from openai-batch` reads the results."""

    summary = "requests for OpenAI's batch interface, for the model of --model"
    takes_model = True

    def __init__(self, models: Sequence[str] = ()) -> None:
        self.models = models

    def files(self, bundle: Bundle) -> Files:
        """Return the requests. Raises DiaError (exit 2) unless exactly one model is named."""
        if len(self.models) != 1:
            message = f"a request file is for exactly one model, but `--model` names {len(self.models) or 'none'}"
            raise DiaError(Diagnostic("E715", message, None, "give one `--model`, such as `--model gpt-4o-mini`"))
        requests = _requests(bundle, self.models[0])
        for number, first_request in enumerate(requests):
            yield (
                f"requests-{number:03}.jsonl",
                (json_line(each) for each in chain((first_request,), islice(requests, REQUESTS - 1))),
            )


def _requests(bundle: Bundle, model: str) -> Iterator[dict[str, Any]]:
    for question, _ in questions_and_answers(bundle):
        try:
            messages = chat_messages(question, Settings(), lambda name: b"".join(bundle.pieces(name)))
        except RequestError as trouble:
            raise DiaError(Diagnostic("E714", trouble.message, None, "export it to `inspect`")) from None
        body = {"model": model, "messages": messages}
        yield {"custom_id": question["id"], "method": "POST", "url": "/v1/chat/completions", "body": body}
