"""A model of any provider that litellm knows. litellm is imported with the first question, which takes seconds."""

from __future__ import annotations

import gc
import logging
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from dia_language.diagnostics import DiaError, Diagnostic, install_extra, visible

from dia_runtime.respondents.api_keys import DEFAULT_KEY, all_keys, find_key, read_env_file, redact, redact_reply
from dia_runtime.respondents.attachments import (
    CUSTOM,
    INTERFACES,
    content_parts,
    decoded,
    interface_of,
    listed_capability,
    lost_parts,
    part_type,
    reason_undeliverable,
    table_entry,
)
from dia_runtime.respondents.chat import (
    DETAILS,
    ROOM_FOR_REPLY,
    Settings,
    chat_messages,
    classify_refusal,
    decimal_text,
    is_over_context,
    reply_from_completion,
)
from dia_runtime.respondents.openai_compatible import retry_after_seconds
from dia_runtime.respondents.prices import cost_of, price_table
from dia_runtime.respondents.providers import similar_model
from dia_runtime.respondents.request_changes import request_changes
from dia_runtime.respondents.respondent import ErrorKind, Reply, RequestError
from dia_runtime.respondents.tool_request import REPEATED, REPEATED_BY_LITELLM, tool_parameters
from dia_runtime.respondents.turn_request import settings_for

if TYPE_CHECKING:
    from dia_runtime.respondents.registry import ModelOptions

# Names of litellm's exceptions, and what they mean; others are judged by their status
KINDS: dict[str, ErrorKind] = {
    "RateLimitError": "rate_limit",
    "Timeout": "timeout",
    "APIConnectionError": "network",
    "InternalServerError": "server",
    "ServiceUnavailableError": "rate_limit",
    "BadGatewayError": "server",
    "AuthenticationError": "fatal",
    "PermissionDeniedError": "fatal",
    "NotFoundError": "fatal",
    "APIResponseValidationError": "server",
    "JSONSchemaValidationError": "server",
}
# Providers whose requests have the form of OpenAI's, which knows no other fields
OPENAI_FORMAT = frozenset({"openai", "azure"})
UNKNOWN_PROVIDER = "LLM Provider NOT provided"
# Side effects of importing litellm: it fetches prices from the network, and reads any `.env` that it finds.
IMPORT_ENVIRONMENT = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}


class LiteLLMClient:
    """A model by its name in litellm."""

    is_billed = True
    has_preflight = True

    def __init__(self, name: str, model: str, settings: Settings, options: ModelOptions) -> None:
        """Raises DiaError (exit 2) if litellm is not installed."""
        if find_spec("litellm") is None:
            fix, similar = f"{install_extra('models')}, or give `--base-url`", similar_model(model)
            if similar:
                fix = f"{similar} Otherwise, {fix}"
            message = f"`{model}` needs litellm, which is not installed"
            raise DiaError(Diagnostic("E826", visible(message), None, visible(fix)))
        self.name, self.model, self.base_settings, self.options = name, model, settings, options
        self.place = self._place()
        self.toolbox, self.price = options.toolbox, options.prices.of(name, model)
        self.secrets = all_keys(options.folder)
        self.litellm: Any = None
        self.lost: dict[str, str] = {}

    def _place(self) -> dict[str, Any]:
        """Return the endpoint and the key that the command line names."""
        options = self.options
        if options.base_url is None:
            return {} if options.key_name is None else {"api_key": find_key(options.key_name, options.folder)}
        key = find_key(options.key_name or DEFAULT_KEY, options.folder)
        return {"base_url": options.base_url, "api_key": key or "none"}

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return its settings, and its endpoint if one is given."""
        place = {"endpoint": self.options.base_url} if self.options.base_url else {}
        tools = {} if self.toolbox is None else {"tools": self.toolbox.settings}
        return {**self.base_settings.stored(), **tools, "through": "litellm", **place}

    @property
    def provider(self) -> str:
        """Return the provider: the text before the first slash."""
        return f"litellm {self.options.base_url or self.model.partition('/')[0]}"

    def undeliverable(self, asset: Mapping[str, Any]) -> str | None:
        """Return why an asset cannot be sent to the model; None if it can."""
        if self.options.attachments == "send" and asset["deliver"] == "attach":
            return None
        is_custom = self.options.base_url is not None and self.litellm_model.startswith("openai/")
        interface = INTERFACES[CUSTOM] if is_custom else interface_of(self.model)

        def supports(capability: str) -> bool | None:
            if is_custom or table_entry(self.model) is None:  # litellm would say that unknown models support nothing
                return None
            if getattr(self._import_litellm().utils, f"supports_{capability}")(self.model):
                return True
            return listed_capability(self.model, capability, interface is not None and interface.is_listed)

        has_tools = self.toolbox is not None and self.toolbox.has_files
        return reason_undeliverable(asset, interface, supports, self.options.read, has_tools)

    @property
    def provider_prefix(self) -> str:
        """Return the provider in the name of the model for litellm."""
        return self.litellm_model.partition("/")[0]

    @property
    def litellm_model(self) -> str:
        """Return the name of the model for litellm."""
        # `--base-url` means an OpenAI-compatible endpoint, whatever its models are called.
        return f"openai/{self.model}" if self.options.base_url and "/" not in self.model else self.model

    def request(self, question: Mapping[str, Any]) -> dict[str, Any]:
        messages = chat_messages(question, self.base_settings, self.options.read)
        parameters = settings_for(question, self.base_settings).parameters()
        parameters |= tool_parameters(question)
        return {"model": self.litellm_model, "messages": messages, **parameters}

    @property
    def takes_prefill(self) -> bool:
        """Return whether the model continues a last message of the assistant, as litellm or the command says."""
        return self.options.prefill or bool((price_table().get(self.model) or {}).get("supports_assistant_prefill"))

    async def ask(self, question: Mapping[str, Any], attempt: int) -> Reply:
        """Return the reply of the provider. Raises RequestError."""
        litellm, body = self._import_litellm(), self.request(question)
        checked = RequestCheck(body["messages"])
        if reason := next((self.lost[kind] for kind in checked.types & self.lost.keys()), ""):
            raise RequestError("request", reason)
        start, asked_at = time.monotonic(), datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        try:
            answer = await litellm.acompletion(
                **body,
                **self.place,
                **_internal(body),
                logger_fn=checked.look_at,
                timeout=self.options.timeout,
                num_retries=0,
                max_retries=0,
            )
            completion = _completion_record(answer, self.provider_prefix not in OPENAI_FORMAT)
        except Exception as error:
            return self._outcome_of(error, decimal_text(time.monotonic() - start, 3), asked_at)
        self._require_complete(checked)
        reply = reply_from_completion(completion, decimal_text(time.monotonic() - start, 3), asked_at)
        if reply.cost is None:
            reply = replace(reply, cost=cost_of(self.price, completion["usage"]))
        changes = request_changes(body, checked.body, self._most_tokens, interface_of(self.litellm_model) is not None)
        return redact_reply(reply if changes is None else replace(reply, request_changes=changes), *self.secrets)

    @cached_property
    def _most_tokens(self) -> int | None:
        """Return how many tokens a reply of the model can have, by litellm's table; None if it does not say."""
        entry = table_entry(self.litellm_model) or {}
        most = entry.get("max_output_tokens") or entry.get("max_tokens")
        return most if type(most) is int and most > 0 else None

    def _require_complete(self, checked: RequestCheck) -> None:
        """Check that the request that litellm sent contains every part. Raises RequestError (`request`) otherwise.

        Later questions with attachments of a type that was lost are not sent, because they would be lost too.
        """
        provider = self.provider_prefix
        if checked.lost is None and not checked.types:
            return
        if checked.lost is None:
            why = (
                f"litellm does not show what it sends to {provider}, so the attachments may be missing from the request"
            )
            self.lost |= dict.fromkeys(checked.types, why)
            raise RequestError("request", why)
        if checked.lost:
            why = f"litellm removed parts of the request to {provider}: {', '.join(sorted(set(checked.lost)))}"
            self.lost |= dict.fromkeys(checked.types & set(checked.lost), why)
            raise RequestError("request", why)

    def _import_litellm(self) -> Any:
        if self.litellm is None:
            os.environ.update({name: value for name, value in IMPORT_ENVIRONMENT.items() if name not in os.environ})
            for name, value in read_env_file(self.options.folder).items():
                os.environ.setdefault(name, value)
            import litellm

            litellm.telemetry = False
            litellm.suppress_debug_info = True
            logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
            gc.freeze()  # its hundreds of thousands of objects need not be looked through again and again
            self.litellm = litellm
        return self.litellm

    def _outcome_of(self, error: Exception, seconds: str, asked_at: str) -> Reply:
        """Return the final reply that an exception of litellm means. Raises RequestError for other exceptions."""
        message = redact(str(error), *self.secrets)
        status = getattr(error, "status_code", None)
        names = [kind.__name__ for kind in type(error).__mro__]
        is_prompt_too_long = is_over_context(message) or not ROOM_FOR_REPLY.search(message)
        if "ContextWindowExceededError" in names and is_prompt_too_long:
            return Reply(None, finish_reason="over_context", seconds=seconds, asked_at=asked_at)
        if "ContentPolicyViolationError" in names:
            return Reply(None, finish_reason="content_filter", seconds=seconds, asked_at=asked_at)
        if UNKNOWN_PROVIDER in message:
            similar = similar_model(self.model) or "see https://docs.litellm.ai/docs/providers"
            provider = self.model.partition("/")[0]
            raise RequestError("fatal", f"litellm does not know the provider `{provider}`; {similar}") from None
        wait = _retry_after(error)
        if isinstance(status, int) and 300 <= status < 600 and names[0] not in KINDS:
            outcome = classify_refusal(status, "", message, seconds, asked_at, wait)
            if isinstance(outcome, Reply):
                return outcome
            raise outcome from None
        kind = KINDS.get(names[0], "server" if isinstance(status, int) and status >= 500 else "request")
        if kind == "rate_limit" and status == 429:
            outcome = classify_refusal(status, "", message, seconds, asked_at, wait)
            kind = outcome.kind if isinstance(outcome, RequestError) else kind
        refused = status if kind == "request" and isinstance(status, int) else None
        raise RequestError(kind, f"{names[0]}: {message}"[:300], wait, refused) from None

    async def close(self) -> None:
        """Close litellm's connections."""
        if self.litellm is not None:
            await self.litellm.close_litellm_async_clients()


def _internal(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return litellm's own parameters for a request.

    Newer versions look for tools of their gateway in every request with tools, and need the package mcp to do so.
    Older versions would send the parameter that prevents it to the provider.
    """
    has_gateway = "tools" in body and find_spec("litellm.responses.mcp.chat_completions_handler") is not None
    return {"_skip_mcp_handler": True} if has_gateway else {}


class RequestCheck:
    """Compares the body that litellm is about to send with the parts that were meant to be sent."""

    def __init__(self, messages: Sequence[Mapping[str, Any]]) -> None:
        self.messages = messages
        self.types = {part_type(part) for part in content_parts(messages) if part["type"] != "text"}
        self.lost: list[str] | None = None
        """The parts that were lost; None until a body was seen."""
        self.body: Any = None

    def look_at(self, details: Mapping[str, Any]) -> None:
        """Take one of litellm's log records; the one before a request contains its body.

        See "Logger Function" at https://docs.litellm.ai/docs/debugging/local_debugging.
        """
        body = (details.get("additional_args") or {}).get("complete_input_dict")
        if details.get("log_event_type") == "pre_api_call" and body:
            self.body, self.lost = decoded(body), lost_parts(self.messages, body)


def _completion_record(answer: Any, keeps_extras: bool) -> dict[str, Any]:
    """Return the needed parts of litellm's response; converting all of it would take as long as the request."""
    usage = getattr(answer, "usage", None)
    counts = {name: getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens", "cost")}
    details = getattr(usage, DETAILS, None)
    reasoning = "reasoning_tokens"
    counts[DETAILS] = {
        reasoning: details.get(reasoning) if isinstance(details, dict) else getattr(details, reasoning, None)
    }
    if counts["cost"] is None:
        counts["cost"] = (getattr(answer, "_hidden_params", None) or {}).get("response_cost")
    choices = [
        {
            "message": _message_record(choice.message, keeps_extras),
            "finish_reason": choice.finish_reason,
        }
        for choice in answer.choices[:1]
    ]
    names = {name: getattr(answer, name, None) for name in ("model", "system_fingerprint")}
    return {"choices": choices, "usage": counts, **names}


def _message_record(message: Any, keeps_extras: bool) -> dict[str, Any]:
    """Return the text of a message; of one that calls tools, everything that the next request has to repeat.

    `keeps_extras` says whether the provider knows the fields that litellm adds; litellm sends them unchanged.
    """
    names = ("content", "refusal", "reasoning_content")
    if not getattr(message, "tool_calls", None):
        return {name: getattr(message, name, None) for name in names}
    record: dict[str, Any] = message.model_dump(exclude_none=True)
    extras = (REPEATED_BY_LITELLM,) if keeps_extras else ()
    return {name: record.get(name) for name in dict.fromkeys((*names, *REPEATED, *extras))}


def _retry_after(error: Exception) -> float | None:
    """Return the waiting time that the provider asked for."""
    response: Any = getattr(error, "response", None)
    for headers in (getattr(error, "litellm_response_headers", None), getattr(response, "headers", None)):
        wait = None if headers is None else retry_after_seconds(headers.get("retry-after"))
        if wait is not None:
            return wait
    return None
