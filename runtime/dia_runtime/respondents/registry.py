"""The registry of respondents: the names that `--model` accepts, and the respondent for each.

A name is a baseline (`BASELINES`), a prefix with its argument (`PREFIXES`), or a provider and its model.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from dia_language.diagnostics import DiaError, Diagnostic, did_you_mean, visible

from dia_runtime.bundle.open import Bundle
from dia_runtime.respondents.api_keys import DEFAULT_KEY, find_key
from dia_runtime.respondents.attachments import AssetReader
from dia_runtime.respondents.baselines import Abstain, Guess, Oracle, Wrong
from dia_runtime.respondents.chat import Settings
from dia_runtime.respondents.openai_compatible import CHAT_PATH, Endpoint, OpenAICompatible, is_local
from dia_runtime.respondents.prices import OwnPrices
from dia_runtime.respondents.providers import ENDPOINTS, KEYLESS
from dia_runtime.respondents.respondent import AsyncRespondent, Respondent, Truth
from dia_runtime.store.tool_transcripts import name_with_tools

if TYPE_CHECKING:
    from dia_runtime.respondents.tools.toolbox import Toolbox


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How models are asked: settings, one respondent for each temperature, and the endpoint.

    `read` reads assets of the bundle, and is set by the run. `through` is `auto`, or `litellm` to ask every endpoint
    through litellm. `copies` is the number of copies of a program. `prefill` says whether endpoints continue a reply
    whose beginning the request contains. `toolbox` has the tools that models may call. `attachments` is `check`, or
    `send` to send even attachments that the model does not accept as far as dia knows. `prices` are for models whose
    provider does not report the cost.
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
    toolbox: Toolbox | None = None
    attachments: str = "check"
    prices: OwnPrices = field(default_factory=OwnPrices)


BASELINES: dict[str, Callable[[Truth], Respondent]] = {
    "oracle": Oracle,
    "abstain": Abstain,
    "wrong": Wrong,
    "guess": Guess,
}
# Prefix of a name, before its first colon -> module and class. The class is made of (name, argument, settings,
# options): the whole name, what follows the colon, the settings of this respondent, and the options of the run.
PREFIXES: dict[str, tuple[str, str]] = {
    "replay": ("dia_runtime.respondents.replay", "Replay"),
    "command": ("dia_runtime.respondents.command", "CommandRespondent"),
    "manual": ("dia_runtime.respondents.manual", "Manual"),
    "simulated": ("dia_runtime.respondents.simulated", "Simulated"),
    "says": ("dia_runtime.respondents.constant", "ConstantReply"),
}
Factory = Callable[[str, Settings], AsyncRespondent]
NOBODY = "none"  # as the model of a role


def create_respondents(model: str, options: ModelOptions) -> list[AsyncRespondent]:
    """Return one respondent for each temperature. Raises DiaError (exit 2) for a name that cannot be asked."""
    make = _factory(model, options)
    names = respondent_names(model, options)
    if not options.temperatures:
        return [make(names[0], options.settings)]
    return [
        make(name, replace(options.settings, temperature=temperature))
        for name, temperature in zip(names, options.temperatures, strict=True)
    ]


def respondent_names(model: str, options: ModelOptions) -> list[str]:
    """Return the names of a model's respondents: one for each temperature, with the tools that they are given."""
    many = len(options.temperatures) > 1
    names = [f"{model}@{temperature}" for temperature in options.temperatures] if many else [model]
    tools = () if options.toolbox is None else options.toolbox.given
    return [name_with_tools(name, tools) for name in names]


def require_tools_possible(model: str, options: ModelOptions) -> None:
    """Check that a model can be given tools, if there are any. Raises DiaError (exit 2) otherwise."""
    if options.toolbox is not None and (model in BASELINES or has_prefix(model)):
        message = visible(f"`{model}` cannot use tools: only models at an endpoint can call them")
        raise DiaError(Diagnostic("E854", message, None, "ask it in a separate command, without `--tools`"))


def key_destinations(models: list[str], options: ModelOptions) -> list[str]:
    """Return a line for each key and the host that receives it, to be shown before the first request."""
    lines = []
    for model in models:
        if model in BASELINES or has_prefix(model) or not is_known(model, options):
            continue
        endpoint = resolve_endpoint(model, options)
        if endpoint is not None and endpoint.key is not None:
            lines.append(f"{endpoint.key_name} goes to {_host(endpoint.base_url)}")
        elif endpoint is None and options.base_url is not None:
            lines.append(
                f"{options.key_name or DEFAULT_KEY}, if set, goes to {_host(options.base_url)} through litellm"
            )
        elif endpoint is None:
            provider = model.partition("/")[0]
            key = options.key_name or f"the API key of {provider}, if set,"
            lines.append(f"{key} goes to {provider} through litellm")
    return list(dict.fromkeys(lines))


def _host(url: str) -> str:
    """Return the host, with a warning if the connection is not encrypted."""
    parts = urlsplit(url)
    return parts.netloc if parts.scheme == "https" or is_local(url) else f"{parts.netloc} (not encrypted)"


def has_prefix(model: str) -> bool:
    """Return whether the name refers to a file, a program or a person instead of a provider's model."""
    return model.partition(":")[0] in PREFIXES and ":" in model


def is_known(model: str, options: ModelOptions) -> bool:
    """Return whether the name has the form of a respondent's name."""
    return has_prefix(model) or "/" in model.strip("/") or (options.base_url is not None and bool(model))


def require_known(model: str, options: ModelOptions) -> None:
    """Raise DiaError (exit 2) for an unknown name."""
    if model not in BASELINES and not is_known(model, options):
        built_in = "the built-in baselines are " + ", ".join(f"`{name}`" for name in BASELINES)
        near = did_you_mean(model, BASELINES)
        fix = "write the provider too, as in `openai/gpt-4o-mini`, or add `--base-url` for your own endpoint"
        message = visible(f"unknown model `{model}`")
        raise DiaError(Diagnostic("E806", message, None, f"{near} ({built_in})" if near else f"{fix}; {built_in}"))


def built_in_beside_url(models: Sequence[str], roles: Iterable[str], options: ModelOptions) -> list[str]:
    """Return the baselines among models that are asked together with a base URL, which has nothing to do with them.

    Raises DiaError (exit 2) if no other model, of a respondent or a role, would be asked at the base URL.
    """
    if options.base_url is None or not models:
        return []
    built_in = [model for model in models if model in BASELINES]
    if not all(name in BASELINES or name == NOBODY or has_prefix(name) for name in [*models, *roles]):
        return built_in
    name = (built_in or models)[0]
    if built_in:
        what = "is a baseline that is built into dia"
        fix = f"remove `--base-url`, or write `openai/{name}` if the endpoint has a model of that name"
    else:
        what, fix = "does not use an endpoint", "remove `--base-url`"
    message = f"`{name}` {what}, so `--base-url` would have no effect"
    raise DiaError(Diagnostic("E849", visible(message), None, fix))


def resolve_endpoint(model: str, options: ModelOptions) -> Endpoint | None:
    """Return where a model is asked; None if through litellm. Raises DiaError for an invalid URL."""
    provider, slash, model_id = model.partition("/")
    if options.base_url is not None:
        require_base_url(options.base_url)
    if options.through == "litellm" or (options.base_url is None and provider not in ENDPOINTS):
        return None
    url, key_name = ENDPOINTS.get(provider, ("", DEFAULT_KEY)) if slash else ("", DEFAULT_KEY)
    key_name = options.key_name or key_name
    key = find_key(key_name, options.folder)
    if options.base_url is not None:
        return Endpoint(options.base_url, model_id if url else model, key_name, key)
    return Endpoint(url, model_id, key_name, key, provider)


def require_base_url(url: str) -> None:
    """Check that the text is a base URL without credentials, which would be stored. Raises DiaError (exit 2)."""
    try:
        parts = urlsplit(url)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_one = False
    if not is_one:
        help = "write http://HOST/v1 or https://HOST/v1, with the port if there is one"
        raise DiaError(Diagnostic("E824", visible(f"`{url}` is not a base URL"), None, help))
    if parts.path.rstrip("/").endswith(CHAT_PATH):
        fix = f"remove `{CHAT_PATH}`, which dia appends"
        raise DiaError(Diagnostic("E824", visible(f"`{url}` is the address of requests, not a base URL"), None, fix))
    if parts.username is not None or parts.query or parts.fragment or not url.isprintable():
        fix = "write only http(s)://host/v1; keys come from the environment"
        raise DiaError(Diagnostic("E824", "the base URL contains more than a host and a path", None, fix))


def _factory(model: str, options: ModelOptions) -> Factory:
    kind, _, argument = model.partition(":")
    if has_prefix(model):
        module, class_name = PREFIXES[kind]
        create: Callable[..., AsyncRespondent] = getattr(importlib.import_module(module), class_name)
        return lambda name, settings: create(name, argument, settings, options)
    endpoint = resolve_endpoint(model, options)
    if endpoint is None:
        from dia_runtime.respondents.litellm_client import LiteLLMClient

        return lambda name, settings: LiteLLMClient(name, model, settings, options)
    if endpoint.key is None and options.base_url is None and endpoint.priced_as not in KEYLESS:
        fix = f"set {endpoint.key_name} in the environment, or in the file .env of this folder"
        raise DiaError(Diagnostic("E823", visible(f"`{model}` needs an API key"), None, fix))
    return lambda name, settings: OpenAICompatible(
        name,
        model,
        endpoint,
        settings,
        options.read,
        options.timeout,
        options.prefill,
        options.toolbox,
        options.attachments,
        options.prices.of(name, model),
    )
