"""A model at an OpenAI-compatible endpoint, asked directly with aiohttp."""

from __future__ import annotations

import json
import os
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.util import find_spec
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from dia_language.diagnostics import DiaError, Diagnostic

from dia_runtime.respondents.api_keys import redact, redact_reply
from dia_runtime.respondents.attachments import (
    CUSTOM,
    INTERFACES,
    AssetReader,
    listed_capability,
    reason_undeliverable,
)
from dia_runtime.respondents.chat import (
    REASONING_FIELDS,
    Settings,
    chat_messages,
    classify_refusal,
    decimal_text,
    excerpt,
    reply_from_completion,
)
from dia_runtime.respondents.prices import Price, cost_of, price_of
from dia_runtime.respondents.respondent import Reply, RequestError
from dia_runtime.respondents.tool_request import tool_parameters
from dia_runtime.respondents.turn_request import TurnRequest, settings_for

if TYPE_CHECKING:
    import aiohttp

    from dia_runtime.respondents.tools.toolbox import Toolbox

CHAT_PATH = "/chat/completions"
LARGEST_ANSWER = 16 << 20
CONNECT_SECONDS = 20.0
# Providers that continue a last message of the assistant, and the parameters that this needs
PREFILL: dict[str, Mapping[str, Any]] = {
    "hosted_vllm": {"add_generation_prompt": False, "continue_final_message": True},
    "openrouter": {},
    "ollama": {},
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is asked: base URL, name of the model there, the key with its name, and the provider for prices."""

    base_url: str
    model_id: str
    key_name: str
    key: str | None = None
    priced_as: str | None = None

    @property
    def url(self) -> str:
        """Return the URL of the chat API."""
        return self.base_url.rstrip("/") + CHAT_PATH


class OpenAICompatible:
    """A model at an endpoint."""

    has_preflight = True

    def __init__(
        self,
        name: str,
        model: str,
        endpoint: Endpoint,
        settings: Settings,
        read: AssetReader | None = None,
        timeout: float = 600.0,
        prefill: bool = False,
        toolbox: Toolbox | None = None,
        attachments: str = "check",
        price: Price | None = None,
    ) -> None:
        """Raises DiaError (exit 2) if aiohttp is not installed. By default, the price is that in litellm's table."""
        if find_spec("aiohttp") is None:
            fix = "pip install aiohttp"
            raise DiaError(Diagnostic("E827", f"`{model}` needs aiohttp, which is not installed", None, fix))
        self.name, self.model, self.endpoint = name, model, endpoint
        self.base_settings, self.read, self.timeout = settings, read, timeout
        self.toolbox = toolbox
        self.takes_prefill = prefill or endpoint.priced_as in PREFILL
        self.attachments = attachments
        if price is None and endpoint.priced_as is not None:
            price = price_of(endpoint.priced_as, endpoint.model_id)
        self.price = price
        self.session: aiohttp.ClientSession | None = None
        self.proxy: str | None = None

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return its settings and its endpoint."""
        tools = {} if self.toolbox is None else {"tools": self.toolbox.settings}
        return {**self.base_settings.stored(), **tools, "endpoint": self.endpoint.url}

    @property
    def provider(self) -> str:
        """Return the endpoint, because all models there share its rate limits."""
        return self.endpoint.url

    @property
    def is_billed(self) -> bool:
        """Return whether its replies may cost money; without a key, nobody can be billed."""
        return self.endpoint.key is not None

    def undeliverable(self, asset: Mapping[str, Any]) -> str | None:
        """Return why an asset cannot be sent to the model; None if it can."""
        if self.attachments == "send" and asset["deliver"] == "attach":
            return None
        provider = self.endpoint.priced_as
        interface = INTERFACES.get(provider or CUSTOM)

        def supports(capability: str) -> bool | None:
            if provider is None:  # anyone may give any name to a model of their own
                return None
            model = f"{provider}/{self.endpoint.model_id}"
            return listed_capability(model, capability, interface is not None and interface.is_listed)

        has_tools = self.toolbox is not None and self.toolbox.has_files
        return reason_undeliverable(asset, interface, supports, self.read, has_tools)

    def request(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request for a question. OpenAI's own endpoint has another name for `max_tokens`."""
        parameters = settings_for(question, self.base_settings).parameters()
        if self.endpoint.url.startswith("https://api.openai.com/") and "max_tokens" in parameters:
            parameters["max_completion_tokens"] = parameters.pop("max_tokens")
        if self.endpoint.priced_as == "openrouter":
            parameters.setdefault("usage", {"include": True})  # makes the provider report the cost
        messages = chat_messages(question, self.base_settings, self.read)
        if isinstance(question, TurnRequest) and question["prefill"]:
            parameters |= PREFILL.get(self.endpoint.priced_as or "", {})
        return {"model": self.endpoint.model_id, "messages": messages, **parameters, **tool_parameters(question)}

    async def ask(self, question: Mapping[str, Any], attempt: int) -> Reply:
        """Return the reply of the endpoint. Raises RequestError."""
        try:
            reply = await self._complete(self.request(question))
        except RequestError as trouble:
            message = redact(trouble.message, self.endpoint.key)
            raise RequestError(trouble.kind, message, trouble.wait, trouble.status, trouble.is_unconnected) from None
        return redact_reply(reply, self.endpoint.key)

    async def _complete(self, body: Mapping[str, Any]) -> Reply:
        start, asked_at = time.monotonic(), datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        status, kind, wait, content = await self._post(body)
        seconds = decimal_text(time.monotonic() - start, 3)
        if status != 200:
            code, message = _refusal_details(content)
            if status == 404:  # often a wrong path
                message = f"{message.removeprefix('404').strip()[:200]} (POST {self.endpoint.url})".strip()
            return _refusal_reply(status, code, message, seconds, asked_at, wait)
        answer = _parse(content, kind)
        if isinstance(answer, Mapping) and answer.get("error"):  # a failure under status 200, also within a reply
            code, message = _error_details(answer["error"])
            return _refusal_reply(
                int(code) if code.isdecimal() and len(code) == 3 else 500, code, message, seconds, asked_at, wait
            )
        reply = reply_from_completion(answer, seconds, asked_at)
        return reply if reply.cost is not None else replace(reply, cost=cost_of(self.price, answer.get("usage")))

    async def _post(self, body: Mapping[str, Any]) -> tuple[int, str, float | None, bytes]:
        """Return status, media type, requested waiting time and content of the response. Raises RequestError."""
        import aiohttp

        if self.session is None:
            self.session, self.proxy = self._session(), proxy_of(self.endpoint.url)
        try:
            async with self.session.post(
                self.endpoint.url, json=body, allow_redirects=False, proxy=self.proxy
            ) as response:
                parts, size = [], 0
                while size <= LARGEST_ANSWER and (part := await response.content.readany()):
                    parts.append(part)
                    size += len(part)
                wait = retry_after_seconds(response.headers.get("Retry-After"))
                return response.status, response.content_type, wait, b"".join(parts)
        except TimeoutError:
            raise RequestError("timeout", f"no reply within {self.timeout:g} s") from None
        except aiohttp.InvalidURL:
            raise RequestError("fatal", f"`{self.endpoint.url}` is not a valid address") from None
        except aiohttp.ClientConnectorError as error:
            message = f"cannot connect to {error.host}:{error.port}: {_connection_problem(error)}"
            raise RequestError("network", message[:300], is_unconnected=True) from None
        except aiohttp.ClientPayloadError:
            raise RequestError("network", "the connection broke before the response was complete") from None
        except aiohttp.ServerDisconnectedError:
            raise RequestError("network", "the endpoint closed the connection without a response") from None
        except (aiohttp.ClientError, OSError) as error:
            raise RequestError("network", f"{type(error).__name__}: {error}"[:300]) from None

    def _session(self) -> aiohttp.ClientSession:
        import aiohttp

        key = self.endpoint.key
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=aiohttp.ClientTimeout(total=self.timeout, sock_connect=CONNECT_SECONDS),
            trust_env=False,  # otherwise a `.netrc` could add credentials
        )

    async def close(self) -> None:
        """Close the connections."""
        if self.session is not None:
            await self.session.close()
            self.session = None


def _connection_problem(error: aiohttp.ClientConnectorError) -> str:
    """Return why a connection could not be opened, in the words of the operating system if it has any."""
    cause = getattr(error, "certificate_error", None) or error.os_error
    if isinstance(cause, ssl.SSLError) or not isinstance(cause, OSError):
        return str(cause)
    # Those of name resolution have negative numbers, which `os.strerror` does not know.
    return os.strerror(cause.errno) if cause.errno and cause.errno > 0 else cause.strerror or str(cause)


def proxy_of(url: str) -> str | None:
    """Return the proxy for a URL from the environment; None for this machine."""
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    if is_local(url) or proxy_bypass(parts.netloc):
        return None
    return getproxies().get(parts.scheme)


def is_local(url: str) -> bool:
    """Return whether the URL is on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _refusal_reply(status: int, code: str, message: str, seconds: str, asked_at: str, wait: float | None) -> Reply:
    """Return the final reply if the response is one. Raises RequestError otherwise."""
    outcome = classify_refusal(status, code, message, seconds, asked_at, wait)
    if isinstance(outcome, RequestError):
        raise outcome
    return outcome


def _parse(content: bytes, kind: str) -> Any:
    """Return the completion in a response; a stream is joined. Raises RequestError."""
    if len(content) > LARGEST_ANSWER:
        raise RequestError("request", f"an answer of more than {LARGEST_ANSWER >> 20} MiB")
    if not content.strip():
        raise RequestError("server", "the endpoint's response is empty")
    try:
        if kind == "text/event-stream":
            return _join_stream([json.loads(line[5:]) for line in content.splitlines() if _is_event(line)])
        return json.loads(content)
    except _IncompleteStream:
        raise RequestError("server", f"the stream ended before the reply was complete: {_excerpt(content)}") from None
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        what = "is not a stream of completions" if kind == "text/event-stream" else "is not JSON"
        raise RequestError("server", f"the endpoint's response {what}: {_excerpt(content)}") from None


class _IncompleteStream(Exception):
    """A stream without the reason why it ended."""


def _is_event(line: bytes) -> bool:
    return line.startswith(b"data:") and line[5:].strip() != b"[DONE]"


def _join_stream(events: list[Any]) -> dict[str, Any]:
    """Join the pieces of a stream to one completion. Raises _IncompleteStream if it says nothing about its end."""
    texts: dict[str, list[str]] = {name: [] for name in ("refusal", *REASONING_FIELDS)}
    contents: list[Any] = []
    ending, usage, model = None, None, None
    calls: dict[int, dict[str, Any]] = {}
    for event in events:
        if event.get("error"):
            return {"error": event["error"]}
        model, usage = event.get("model", model), event.get("usage") or usage
        for choice in event.get("choices") or ():
            delta = choice.get("delta") or {}
            contents.append(delta.get("content") or "")
            for name, pieces in texts.items():
                pieces.append(str(delta.get(name) or ""))  # of reasoning, it only matters whether there is any
            for piece in delta.get("tool_calls") or ():
                _join_call(calls, piece)
            ending = choice.get("finish_reason") or ending
    if ending is None:
        raise _IncompleteStream
    joined = {name: "".join(pieces) for name, pieces in texts.items()}
    message: dict[str, Any] = {"content": _joined_content(contents)}
    message |= {name: text for name, text in joined.items() if text}
    message |= {"tool_calls": [calls[at] for at in sorted(calls)]} if calls else {}
    choice = {"message": message, "finish_reason": ending}
    return {"choices": [choice], "usage": usage, "model": model}


def _joined_content(pieces: list[Any]) -> str | list[Any]:
    """Return the text of the pieces; their parts if one is a list of parts. Raises TypeError if one is neither."""
    if all(isinstance(piece, str) for piece in pieces):
        return "".join(pieces)
    if not all(isinstance(piece, str | list) for piece in pieces):
        raise TypeError
    lists = [[{"type": "text", "text": piece}] if isinstance(piece, str) else piece for piece in pieces]
    return [part for parts in lists for part in parts]


def _join_call(calls: dict[int, dict[str, Any]], piece: Mapping[str, Any]) -> None:
    """Add a piece of a call: the first has the name, all have parts of the arguments."""
    call = calls.setdefault(int(piece.get("index", len(calls))), {"type": "function", "function": {"arguments": ""}})
    function = piece.get("function") or {}
    call["function"]["arguments"] += function.get("arguments") or ""
    call["function"] |= {"name": function["name"]} if function.get("name") else {}
    call |= {name: value for name, value in piece.items() if name not in ("index", "function") and value is not None}


def _refusal_details(content: bytes) -> tuple[str, str]:
    """Return the code and message of an error response, as far as they can be read."""
    try:
        record = json.loads(content[:LARGEST_ANSWER])
    except (ValueError, RecursionError):
        return "", _excerpt(content)
    return _error_details(record.get("error", record) if isinstance(record, Mapping) else record)


def _error_details(error: Any) -> tuple[str, str]:
    if not isinstance(error, Mapping):
        return "", excerpt(error)
    return str(error.get("code") or error.get("type") or "")[:100], str(error.get("message", error))[:1000]


def _excerpt(content: bytes) -> str:
    return excerpt(content[:400].decode("utf-8", "replace"))


def retry_after_seconds(header: str | None) -> float | None:
    """Return the waiting time of a Retry-After header: seconds, or a date (RFC 9110, section 10.2.3)."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None
