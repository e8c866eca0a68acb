"""`simulated:theta=0.5[,bank=FILE][,seed=S][,skip=SHARE]`: a respondent of known ability, by the Rasch model.

It is right with probability 1 / (1 + exp(-(theta - b))), where b is the item's difficulty (Rasch 1960). Of the other
questions it skips the share `skip`, and answers the rest by a named mistake if there is one. What it does follows
from SHA-256 over seed, ability, question and attempt, compared with probabilities of 40 decimals in whole numbers, so
that it is the same on every machine.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Mapping
from decimal import Context, Decimal
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dia_language.diagnostics import DiaError, Diagnostic, did_you_mean, visible

from dia_runtime.respondents.baselines import NO_SESSIONS, SKIP, Wrong, pick_by_hash
from dia_runtime.respondents.respondent import LocalRespondent, Reply, RequestError, Truth

if TYPE_CHECKING:
    from dia_runtime.respondents.chat import Settings
    from dia_runtime.respondents.registry import ModelOptions

DEFAULTS = {"theta": "", "bank": "", "seed": "0", "skip": "0"}
BANK = "name a bank that `dia calibrate` wrote"
NUMBER = re.compile(r"[+-]?[0-9]{1,3}(\.[0-9]{1,20})?", re.ASCII)
PLACES = 40
SCALE = 10**PLACES
EXACT = Context(prec=PLACES + 40)  # exp is correctly rounded in decimal, so that every platform has the same digits
DRAWS = 2**256
LARGEST_BANK = 1 << 28


class Simulated(LocalRespondent):
    """A respondent with a given ability."""

    no_sessions_reason = NO_SESSIONS

    def __init__(self, name: str, argument: str, settings: Settings, options: ModelOptions) -> None:
        """Raises DiaError (exit 2) if the arguments or the bank are invalid."""
        arguments = _parse_arguments(argument)
        super().__init__(name, f"simulated:{argument}")
        self.theta, self.skip, self.seed = (
            _decimal_argument("theta", arguments),
            _decimal_argument("skip", arguments),
            arguments["seed"],
        )
        if not 0 <= self.skip <= 1:
            raise _usage_error("`skip` must be a share from 0 to 1")
        self.bank: dict[str, Decimal] | None = None
        self.digest: str | None = None
        if arguments["bank"]:
            self.bank, self.digest = _read_bank(Path(arguments["bank"]))
        self.truth: Truth | None = None

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return the settings that determine its replies, in addition to the questions."""
        settings = {"theta": plain_decimal(self.theta), "skip": plain_decimal(self.skip), "seed": self.seed}
        return settings if self.digest is None else {**settings, "bank": self.digest}

    def know(self, truth: Truth) -> None:
        """Receive the answers."""
        self.truth = truth

    async def ask(self, question: Mapping[str, Any], attempt: int) -> Reply:
        """Return the reply. Raises RequestError if the bank has no difficulty for the question."""
        await asyncio.sleep(0)  # so that an interrupt is heard
        assert self.truth is not None
        probability = success_threshold(self.theta, self._difficulty(question))
        record = self.truth.record(question["id"])
        if self._draw("answer", question, attempt) < probability:
            return Reply(self.truth.wrap(record["text"], question["format"]))
        if self._draw("skip", question, attempt) < int(EXACT.multiply(self.skip, SCALE)):
            return Reply(self.truth.wrap(str(question["format"].get("skip") or SKIP), question["format"]))
        return self._wrong(record, question, attempt)

    def _wrong(self, record: Mapping[str, Any], question: Mapping[str, Any], attempt: int) -> Reply:
        """Return a named mistake, or any answer that the grader calls wrong if there is none."""
        assert self.truth is not None
        mistakes = [str(text) for text in record["mistakes"].values()]
        if mistakes:
            text = pick_by_hash(mistakes, f"{self._key('mistake')}\n{attempt}", question["id"])
            reply = self.truth.wrap(text, question["format"])
            if self.truth.is_wrong(record, reply, question["format"]):
                return Reply(reply)
        return Wrong(self.truth).reply(question)

    def _difficulty(self, question: Mapping[str, Any]) -> Decimal:
        """Return the difficulty of the question, or else of its item, template or benchmark."""
        if self.bank is None:
            return Decimal(0)
        identity = question["id"]
        for name in (identity, question["item"], question["template"], identity.partition("/")[0]):
            if name in self.bank:
                return self.bank[name]
        raise RequestError("request", f"the bank has no difficulty for {question['item']}")

    def _draw(self, what: str, question: Mapping[str, Any], attempt: int) -> int:
        """Return a number from 0 to below SCALE, the same one for the same question and attempt."""
        text = f"{self._key(what)}\n{question['id']}\n{attempt}"
        number: int = int.from_bytes(hashlib.sha256(text.encode()).digest(), "big") * SCALE // DRAWS
        return number

    def _key(self, what: str) -> str:
        # It includes the ability, so respondents of different abilities err independently, as the model assumes.
        return f"{what}\n{self.seed}\n{plain_decimal(self.theta)}"


@lru_cache(maxsize=1 << 16)
def success_threshold(theta: Decimal, difficulty: Decimal) -> int:
    """Return the probability of a correct answer, in units of 1 / SCALE.

    >>> success_threshold(Decimal(2), Decimal(2)) * 2 == SCALE
    True
    """
    odds = EXACT.exp(EXACT.subtract(difficulty, theta))
    return int(EXACT.divide(Decimal(SCALE), EXACT.add(Decimal(1), odds)))


def plain_decimal(number: Decimal) -> str:
    """Return the number as text, without redundant digits.

    >>> plain_decimal(Decimal("0.50")), plain_decimal(Decimal("-0.0")), plain_decimal(Decimal("100"))
    ('0.5', '0', '100')
    """
    text = f"{number:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "+0") else text


def _parse_arguments(argument: str) -> dict[str, str]:
    """Return the arguments by name. Raises DiaError for an unknown one."""
    arguments = dict(DEFAULTS)
    for part in argument.split(",") if argument else ():
        name, equals, value = part.partition("=")
        if name not in DEFAULTS or not equals:
            raise _usage_error(f"`{part}` is not an argument of `simulated`", did_you_mean(name, DEFAULTS))
        arguments[name] = value
    if not arguments["theta"]:
        raise _usage_error("`simulated` needs `theta`, the ability")
    return arguments


def _decimal_argument(name: str, arguments: Mapping[str, str]) -> Decimal:
    if not NUMBER.fullmatch(arguments[name]):
        raise _usage_error(f"`{name}` must be a decimal number such as 0.5, not `{arguments[name]}`")
    return Decimal(arguments[name])


def _read_bank(path: Path) -> tuple[dict[str, Decimal], str]:
    """Return difficulties by item, and the file's digest: `{"items": [{"item": "...", "difficulty": "-0.7"}]}`."""
    try:
        if path.stat().st_size > LARGEST_BANK:
            raise ValueError(f"it is larger than {LARGEST_BANK >> 20} MiB")
        encoded = path.read_bytes()
        record = json.loads(encoded, parse_float=Decimal, parse_int=Decimal)
        difficulties = dict(map(_bank_entry, record["items"]))
        if len(difficulties) != len(record["items"]):
            raise ValueError("an item occurs twice")
    except OSError as error:
        raise _usage_error(f"the bank `{path}` cannot be read: {error.strerror}", BANK) from None
    except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError) as error:
        why = str(error) if type(error) is ValueError else 'it is not {"items": [{"item", "difficulty"}]}'
        raise _usage_error(f"the bank `{path}` cannot be used: {why}", BANK) from None
    return difficulties, hashlib.sha256(encoded).hexdigest()


def _bank_entry(entry: Mapping[str, Any]) -> tuple[str, Decimal]:
    name, value = entry["item"], Decimal(entry["difficulty"])
    if not isinstance(name, str) or not value.is_finite() or abs(value) >= 1000:
        raise ValueError("a difficulty must be a number between -1000 and 1000, and an item a name")
    return name, value


def _usage_error(message: str, help: str | None = None) -> DiaError:
    fix = help or "write simulated:theta=0.5,bank=FILE,seed=1,skip=0.2; only theta is required"
    return DiaError(Diagnostic("E843", visible(message), None, fix))
