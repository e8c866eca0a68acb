"""Names of models -> whom to ask: an endpoint directly, a provider through litellm, a file, a program, a person."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from dia_language.diagnostics import DiaError, Diagnostic, visible

from dia_runtime.bundle.open import Bundle
from dia_runtime.respondents.api_keys import DEFAULT_KEY, find_key
from dia_runtime.respondents.asker import AsyncRespondent
from dia_runtime.respondents.chat import AssetReader, Settings
from dia_runtime.respondents.openai_compatible import Endpoint, OpenAICompatible, is_local

# Provider -> base URL of its OpenAI-compatible interface, and the name of its key. All others go through litellm.
ENDPOINTS: dict[str, tuple[str, str]] = {
    "openai": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "openrouter": ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "groq": ("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "mistral": ("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "deepseek": ("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "together_ai": ("https://api.together.xyz/v1", "TOGETHERAI_API_KEY"),
    "fireworks_ai": ("https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
    "xai": ("https://api.x.ai/v1", "XAI_API_KEY"),
    "ollama": ("http://localhost:11434/v1", "OLLAMA_API_KEY"),
    "hosted_vllm": ("http://localhost:8000/v1", "HOSTED_VLLM_API_KEY"),
}
KEYLESS = frozenset({"ollama", "hosted_vllm"})


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How models are to be asked: settings, one respondent for each temperature, and where.

    `read` reads assets of the bundle, which the run names; `through` is `auto` or `litellm`, which asks every endpoint
    through litellm; a program is started in so many `copies`; `prefill` says that endpoints continue a reply that is
    begun for them.
    """

    settings: Settings = field(default_factory=Settings)
    temperatures: tuple[str, ...] = ()
    base_url: str | None = None
    key_name: str | None = None
    timeout: float = 600.0
    through: str = "auto"
    read: AssetReader | None = None
    folder: Path = field(default_factory=Path)
    bundle: Bundle | None = None
    copies: int = 1
    prefill: bool = False


# What stands before the first colon -> module and class of the asker: made of (name, rest, settings, wish).
SPECIAL: dict[str, tuple[str, str]] = {
    "replay": ("dia_runtime.respondents.replay", "Replay"),
    "command": ("dia_runtime.respondents.command", "CommandRespondent"),
    "manual": ("dia_runtime.respondents.manual", "Manual"),
    "simulated": ("dia_runtime.respondents.simulated", "Simulated"),
    "says": ("dia_runtime.respondents.constant", "ConstantReply"),
}
Factory = Callable[[str, Settings], AsyncRespondent]


def create_respondents(model: str, wish: ModelOptions) -> list[AsyncRespondent]:
    """Whom to ask for a model: one asker for each temperature. Raises DiaError (exit 2) for what cannot be asked."""
    make = _factory(model, wish)
    if not wish.temperatures:
        return [make(model, wish.settings)]
    many = len(wish.temperatures) > 1
    return [
        make(f"{model}@{warmth}" if many else model, replace(wish.settings, temperature=warmth))
        for warmth in wish.temperatures
    ]


def key_destinations(models: list[str], wish: ModelOptions) -> list[str]:
    """Where the models are asked and which key goes there, a line each: to be shown before the first request."""
    lines = []
    for model in models:
        if has_prefix(model) or not is_known(model, wish):
            continue
        place = resolve_endpoint(model, wish)
        if place is not None and place.key is not None:
            lines.append(f"{place.key_name} goes to {_host(place.base_url)}")
        elif place is None and wish.base_url is not None:
            lines.append(f"{wish.key_name or DEFAULT_KEY}, if set, goes to {_host(wish.base_url)} through litellm")
        elif place is None:
            provider = model.partition("/")[0]
            lines.append(f"litellm asks {provider} with {wish.key_name or 'the key of that provider'}")
    return list(dict.fromkeys(lines))


def _host(url: str) -> str:
    """The host, with a warning where what is sent there can be read on the way."""
    parts = urlsplit(url)
    return parts.netloc if parts.scheme == "https" or is_local(url) else f"{parts.netloc} (not encrypted)"


def has_prefix(model: str) -> bool:
    """Whether the name stands for a file, a program or a person, not for a model of a provider."""
    return model.partition(":")[0] in SPECIAL and ":" in model


def is_known(model: str, wish: ModelOptions) -> bool:
    """Whether the name has the form of something that can be asked."""
    return has_prefix(model) or "/" in model.strip("/") or (wish.base_url is not None and bool(model))


def resolve_endpoint(model: str, wish: ModelOptions) -> Endpoint | None:
    """Where a model is asked; None for what goes through litellm. Raises DiaError for a URL that is none."""
    provider, slash, rest = model.partition("/")
    if wish.base_url is not None:
        require_base_url(wish.base_url)
    if wish.through == "litellm" or (wish.base_url is None and provider not in ENDPOINTS):
        return None
    url, key_name = ENDPOINTS.get(provider, ("", DEFAULT_KEY)) if slash else ("", DEFAULT_KEY)
    key_name = wish.key_name or key_name
    key = find_key(key_name, wish.folder)
    if wish.base_url is not None:
        return Endpoint(wish.base_url, rest if url else model, key_name, key)
    return Endpoint(url, rest, key_name, key, provider)


def require_base_url(url: str) -> None:
    """Nothing, when the text is a base URL; else DiaError (exit 2). A name or password in it would be stored."""
    try:
        parts = urlsplit(url)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_one = False
    if not is_one:
        raise DiaError(Diagnostic("E824", visible(f"`{url}` is no base URL"), None, "write http(s)://host/v1"))
    if parts.username is not None or parts.query or parts.fragment or not url.isprintable():
        mend = "write http(s)://host/v1 alone; keys come from the environment"
        raise DiaError(Diagnostic("E824", "the base URL holds more than a host and a path", None, mend))


def _factory(model: str, wish: ModelOptions) -> Factory:
    kind, _, rest = model.partition(":")
    if has_prefix(model):
        module, name = SPECIAL[kind]
        made: Callable[..., AsyncRespondent] = getattr(importlib.import_module(module), name)
        return lambda shown, settings: made(shown, rest, settings, wish)
    place = resolve_endpoint(model, wish)
    if place is None:
        from dia_runtime.respondents.litellm_client import LiteLLMClient

        return lambda shown, settings: LiteLLMClient(shown, model, settings, wish)
    if place.key is None and wish.base_url is None and place.priced_as not in KEYLESS:
        mend = f"set {place.key_name} in the environment, or in the file .env of this folder"
        raise DiaError(Diagnostic("E823", visible(f"`{model}` needs a key"), None, mend))
    return lambda shown, settings: OpenAICompatible(
        shown, model, place, settings, wish.read, wish.timeout, wish.prefill
    )
