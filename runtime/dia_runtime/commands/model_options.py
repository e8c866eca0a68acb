"""Options of the commands that ask models."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from dia_language.diagnostics import DiaError, Diagnostic, visible

from dia_runtime.commands.options import choice_option, combined, price_option
from dia_runtime.commands.ranges import FloatRange, IntRange
from dia_runtime.commands.tool_options import OPTIONS as TOOL_OPTIONS
from dia_runtime.commands.tool_options import ToolArguments, toolbox_of

if TYPE_CHECKING:
    from dia_runtime.running.run import RunOptions

REPLIES = Path("build") / ".cache" / "replies.sqlite"
AT_ONCE = 16
# Parameters that `--parameter` cannot set: they have options, or decide where keys go
RESERVED_PARAMETERS = frozenset(
    {"model", "messages", "stream", "temperature", "max_tokens", "max_completion_tokens", "reasoning_effort", "seed"}
    | {"system", "tools", "tool_choice", "endpoint", "through", "timeout", "num_retries", "max_retries", "proxies"}
    | {"api_key", "base_url", "api_base", "api_version", "extra_headers", "headers", "organization", "n"}
)
option = click.option
OPTIONS = (
    option("--base-url", metavar="URL", help="URL of an OpenAI-compatible API."),
    option("--key-name", metavar="NAME", help="Environment variable with the API key; its name must end in _API_KEY."),
    option("--temperature", metavar="LIST", help="Temperature, or several (0,0.7,1): each is scored as its own model."),
    option("--max-tokens", type=IntRange(min=1), help="Maximum number of tokens in a reply."),
    option("--system", metavar="TEXT", help="System prompt; @FILE reads it from a file."),
    option("--reasoning-effort", metavar="WORD", help="low, medium or high, for models that support it."),
    option("--seed", type=int, help="Sampling seed, passed to the provider."),
    option(
        "--parameter",
        "extra",
        multiple=True,
        metavar="NAME=VALUE",
        help="Other request parameter, for example top_p=0.9. Repeatable.",
    ),
    option(
        "--concurrency",
        type=IntRange(1, 1024),
        help="Parallel requests, or copies of a program. Default: 16 requests, 1 copy; for `dia place`, 4 of either.",
    ),
    option("--retries", type=IntRange(0, 100), default=6, show_default=True, help="Retries after a failed request."),
    option(
        "--patience",
        type=FloatRange(min=0),
        default=3600,
        show_default=True,
        metavar="SECONDS",
        help="Longest wait for a model that refuses all requests because of a rate limit.",
    ),
    option(
        "--timeout",
        type=FloatRange(min=0.001),
        default=600,
        show_default=True,
        metavar="SECONDS",
        help="Longest wait for a reply.",
    ),
    price_option,
    option("--budget-usd", metavar="AMOUNT", help="Stop when this amount has been spent."),
    option("--budget-tokens", type=IntRange(min=1), help="Stop when this many tokens have been used."),
    option("--budget-requests", type=IntRange(min=1), help="Stop after this many requests."),
    option(
        "--role",
        "roles",
        multiple=True,
        metavar="ROLE=NAME",
        help="Model for a role of the sessions; `none` leaves out the sessions that need it. Repeatable.",
    ),
    option(
        "--role-base-url",
        "role_urls",
        multiple=True,
        metavar="ROLE=URL",
        help="API URL for the model of a role. Repeatable.",
    ),
    option("--prefill", is_flag=True, help="Assume that the endpoint can continue a reply that the request begins."),
    option("--cache", is_flag=True, help="Reuse replies to identical requests from build/.cache/replies.sqlite."),
    choice_option(
        "--attachments",
        choices=["check", "send"],
        default="check",
        help="check: do not ask questions with attachments that the model does not accept. send: ask them anyway.",
    ),
    choice_option("--through", choices=["auto", "litellm"], default="auto", help="Client library for the requests."),
)
model_options = combined(*OPTIONS, *TOOL_OPTIONS)


def model_options_except(*names: str) -> Callable[[Any], Any]:
    """Return the options that say how one model is asked, without those that a command does not have."""

    def decorate(command: Any) -> Any:
        command = combined(*OPTIONS)(command)
        command.__click_params__ = [option for option in command.__click_params__ if option.name not in names]
        (temperature,) = (option for option in command.__click_params__ if option.name == "temperature")
        temperature.metavar, temperature.help = "NUMBER", "Temperature."  # several would be several models
        return command

    return decorate


@dataclass(frozen=True)
class ModelArguments:
    """The arguments of `model_options`."""

    base_url: str | None
    key_name: str | None
    temperature: str | None
    max_tokens: int | None
    system: str | None
    reasoning_effort: str | None
    extra: tuple[str, ...]
    concurrency: int | None
    retries: int
    timeout: float
    budget_usd: str | None
    budget_tokens: int | None
    budget_requests: int | None
    cache: bool
    through: str
    seed: int | None = None
    roles: tuple[str, ...] = ()
    role_urls: tuple[str, ...] = ()
    prefill: bool = False
    tools: tuple[str, ...] = ()
    tool_calls: int = 20
    tool_seconds: float = 10.0
    tool_commands: tuple[str, ...] = ()
    mcp_commands: tuple[str, ...] = ()
    attachments: str = "check"
    patience: float = 3600.0
    prices: tuple[str, ...] = ()

    @property
    def tool_arguments(self) -> ToolArguments:
        return ToolArguments(self.tools, self.tool_calls, self.tool_seconds, self.tool_commands, self.mcp_commands)


def run_options(arguments: ModelArguments, part: str | None = None) -> RunOptions:
    """Return the options of a run. Raises DiaError (exit 2) for a malformed value."""
    from dia_runtime.respondents.budget import Budget
    from dia_runtime.respondents.chat import Settings
    from dia_runtime.respondents.prices import OwnPrices
    from dia_runtime.respondents.registry import ModelOptions
    from dia_runtime.running.run import RunOptions

    temperatures = tuple(_decimal("--temperature", text) for text in (arguments.temperature or "").split(",") if text)
    settings = Settings(
        max_tokens=arguments.max_tokens,
        system=_text_of(arguments.system),
        reasoning_effort=arguments.reasoning_effort,
        seed=arguments.seed,
        extra=dict(map(_parameter, arguments.extra)),
    )
    options = ModelOptions(
        settings,
        temperatures,
        arguments.base_url,
        arguments.key_name,
        arguments.timeout,
        arguments.through,
        copies=arguments.concurrency or 1,
        prefill=arguments.prefill,
        toolbox=toolbox_of(arguments.tool_arguments),
        attachments=arguments.attachments,
        prices=OwnPrices(arguments.prices),
    )
    money = arguments.budget_usd
    budget = Budget(
        None if money is None else Decimal(_decimal("--budget-usd", money)),
        arguments.budget_tokens,
        arguments.budget_requests,
    )
    return RunOptions(
        options,
        arguments.concurrency or AT_ONCE,
        arguments.retries,
        budget,
        REPLIES if arguments.cache else None,
        _part(part),
        _by_role("--role", arguments.roles),
        _by_role("--role-base-url", arguments.role_urls),
        patience=arguments.patience,
    )


def _by_role(option: str, texts: Sequence[str]) -> dict[str, str]:
    """Return the values by role. Raises DiaError (exit 2)."""
    values: dict[str, str] = {}
    for text in texts:
        role, equals, value = text.partition("=")
        if not role or not equals or not value or role in values:
            fix = f"write `{option} judge=...`, at most once for each role"
            raise DiaError(
                Diagnostic(
                    "E846",
                    visible(f"`{option} {text}` does not have the form ROLE=VALUE, or repeats a role"),
                    None,
                    fix,
                )
            )
        values[role] = value
    return values


def _part(text: str | None) -> tuple[int, int]:
    """Return the number of the part, and of all parts. Raises DiaError (exit 2)."""
    match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text or "1/1")
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise DiaError(
            Diagnostic(
                "E600", visible(f"`--part {text}` is not a part"), None, "write 2/5 for the second of five parts"
            )
        )
    return int(match[1]), int(match[2])


def _parameter(text: str) -> tuple[str, Any]:
    """Return name and value of a parameter: the value as JSON if it is valid JSON, or else as text."""
    name, equals, value = text.partition("=")
    if not equals or not re.fullmatch(r"[a-z][a-z0-9_]{0,60}", name) or name in RESERVED_PARAMETERS:
        fix = "write NAME=VALUE with a parameter of the provider that dia has no option for, such as top_p=0.9"
        raise DiaError(Diagnostic("E600", visible(f"`--parameter {text}` cannot be passed to the provider"), None, fix))
    try:
        return name, json.loads(value, parse_float=Decimal, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return name, value


def _no_number(name: str) -> Any:
    raise ValueError(name)


def _decimal(option: str, text: str) -> str:
    """Return the text of a nonnegative decimal number. Raises DiaError (exit 2)."""
    number = text.strip()
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", number):
        raise DiaError(Diagnostic("E600", visible(f"`{option}` must be a number such as 0.7, not `{text}`")))
    return number


def _text_of(text: str | None) -> str | None:
    """Return the text, or that of the file after `@`."""
    if text is None or not text.startswith("@"):
        return text
    try:
        return Path(text[1:]).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise DiaError(Diagnostic("E600", visible(f"cannot read the file of `--system {text}`: {error}"))) from None
