"""A bank: items with their difficulties, the models that calibrated them, and the origin of their scale.

The file is JSON with sorted keys. Its `checksum` is the SHA-256 of the file without the checksum, so that any change is
detected. `simulated:bank=FILE` reads `items`.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar

from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_runtime.bundle.atomic_output import temporary_sibling, why_not_written
from dia_runtime.bundle.safe_paths import refuse_special_file

FORMAT, VERSION = "dia-bank", 1
LARGEST = 1 << 28
FARTHEST = 1000  # logits
STATUSES = ("estimated", "extreme_high", "extreme_low", "anchor")
GAUGES = ("mean_difficulty", "mean_ability", "anchors", "none")
UNITS_OF_ONE_COMPILE = (
    "instances",
    "items",
)  # units whose names denote other questions if a bundle is compiled differently
OPTIONAL = ("explanation", "family_sd")
REPEAT = "name a file that `dia calibrate` wrote; if it wrote this one, calibrate again"


@dataclass(frozen=True, slots=True)
class BankItem:
    """An item: its difficulty in logits with its standard error, its fit, and the number of its replies and successes.

    `extreme_high` is an item that nobody passed, so its difficulty has no upper limit; `extreme_low` is the opposite.
    """

    item: str
    difficulty: float
    se: float | None = None
    status: str = "estimated"
    successes: float | None = None
    trials: float | None = None
    infit: float | None = None
    outfit: float | None = None
    template: str | None = None
    skills: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BankModel:
    """A model of the panel: its ability in logits with its error, and its fit."""

    model: str
    ability: float
    se: float | None = None
    status: str = "estimated"
    successes: float | None = None
    trials: float | None = None
    infit: float | None = None
    outfit: float | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An item or a model without a place on the scale, and why."""

    kind: str
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Bank:
    """A calibrated set of items. `unit` says what an item is: instances, items, templates, benchmarks or columns.

    `prior_mean` and `prior_sd` are the normal distribution of the random side, if the method has one.
    """

    items: tuple[BankItem, ...]
    models: tuple[BankModel, ...]
    method: str
    gauge: str
    log_likelihood: float | None = None
    iterations: int = 0
    unit: str = "columns"
    benchmark: str | None = None
    questions_root: str | None = None
    item_scores: str | None = None
    prior_mean: float | None = None
    prior_sd: float | None = None
    filter: str | None = None
    left_out: tuple[LeftOut, ...] = ()
    explanation: dict[str, Any] | None = None  # how difficulties follow from parameters, by `dia explain --save`
    family_sd: float | None = None  # logits: a model's deviation from its ability in one template; 0 if not significant


def has_other_questions(bank: Bank, questions_root: str | None) -> bool:
    """Return whether the bank's items are known to be questions with another root, despite equal names."""
    roots = {bank.questions_root, questions_root}
    return bank.unit in UNITS_OF_ONE_COMPILE and len(roots) == 2 and None not in roots


def require_questions(bank: Bank, benchmark: str | None, questions_root: str | None) -> None:
    """Check that the bank's items are questions with that root. Raises DiaError (exit 2) if only the names match.

    A bank, or data, with several roots has none, and is not checked.
    """
    if not has_other_questions(bank, questions_root):
        return
    message = visible(f"the bank was calibrated on other {bank.unit} than those of `{str(benchmark)[:80]}`")
    help = "use the questions on which it was calibrated, or a bank of templates (`--items templates`)"
    raise DiaError(Diagnostic("E802", message, None, help))


def pace_in_words(low: float, high: float) -> str:
    """Return what the 95 % interval of a model's slope says about how fast its success changes with difficulty."""
    if low <= 1 <= high:
        return "about as the Rasch model predicts"
    return f"{'faster' if low > 1 else 'more slowly'} than the Rasch model predicts"


def as_record(bank: Bank) -> dict[str, Any]:
    """Return the bank as JSON, with its checksum."""
    body = {"format": FORMAT, "version": VERSION, **asdict(bank)}
    for name in OPTIONAL:  # without these, the bytes of older banks do not change
        if body[name] is None:
            del body[name]
    return {**body, "checksum": checksum(body)}


def checksum(body: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the record without its checksum, as compact JSON with sorted keys."""
    plain = {name: value for name, value in body.items() if name != "checksum"}
    encoded = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(encoded.encode("utf-8", "surrogatepass")).hexdigest()


def write_bank(bank: Bank, path: str | os.PathLike[str]) -> None:
    """Write the file atomically. Raises DiaError (exit 2) if that is not possible."""
    place = Path(path)
    refuse_special_file(place)
    if place.is_dir():
        message = visible(f"the bank `{place}` cannot be written: it is a folder")
        raise DiaError(Diagnostic("E894", message, None, "choose another `--out`"))
    text = json.dumps(as_record(bank), sort_keys=True, indent=1, allow_nan=False) + "\n"
    try:
        with temporary_sibling(place) as private:
            (private / "bank").write_text(text, encoding="utf-8")
            (private / "bank").replace(place)
    except OSError as error:
        message = visible(f"the bank `{place}` cannot be written: {why_not_written(error)}")
        raise DiaError(Diagnostic("E894", message, None, "choose another `--out`")) from None


def read_bank(path: str | os.PathLike[str]) -> Bank:
    """Return the bank in that file.

    Raises DiaError: exit 2 if there is none, exit 3 if it is damaged or has another version.
    """
    place = Path(path)
    try:
        if place.stat().st_size > LARGEST:
            raise _refused(place, f"it is larger than {LARGEST >> 20} MiB")
        record = json.loads(place.read_bytes())
    except OSError as error:
        message = visible(f"the bank `{place}` cannot be read: {error.strerror}")
        raise DiaError(Diagnostic("E894", message, None, "name a file that `dia calibrate` wrote")) from None
    except (ValueError, RecursionError):
        raise _refused(place, "it is not JSON") from None
    return _bank(place, record)


def _bank(place: Path, record: Any) -> Bank:
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise _refused(place, "it is not a bank from `dia calibrate`")
    if record.get("version") != VERSION:
        raise _refused(place, f"it has version {record.get('version')!r}, and this dia reads {VERSION}")
    try:
        if record.get("checksum") != checksum(record):
            raise _refused(place, "its content does not match its checksum")
        return _read_bank(record)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        why = str(error) if type(error) is ValueError else "one of its records is malformed"
        raise _refused(place, why) from None


def _read_bank(record: Mapping[str, Any]) -> Bank:
    parts = {
        "items": tuple(_record(BankItem, entry) for entry in record["items"]),
        "models": tuple(_record(BankModel, entry) for entry in record["models"]),
        "left_out": tuple(_record(LeftOut, entry) for entry in record["left_out"]),
    }
    body = {name: value for name, value in record.items() if name not in ("format", "version", "checksum")}
    bank = _record(Bank, {**body, **parts})
    _require_valid(bank)
    return bank


Kind = TypeVar("Kind", Bank, BankItem, BankModel, LeftOut)
CHECKS: Mapping[str, tuple[type, ...]] = {
    "str": (str,),
    "str | None": (str, NoneType),
    "int": (int,),
    "float": (float, int),
    "float | None": (float, int, NoneType),
    "dict[str, Any] | None": (dict, NoneType),
}


def _record(kind: type[Kind], entry: Mapping[str, Any]) -> Kind:
    """Return the entry as its dataclass. Raises ValueError for unknown fields or invalid values."""
    for field in fields(kind):
        value = entry.get(field.name) if field.name in OPTIONAL else entry[field.name]
        types = CHECKS.get(str(field.type))
        if types is not None and (type(value) is bool or not isinstance(value, types)):
            raise ValueError(f"`{field.name}` has the wrong type")
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"`{field.name}` is not a number")
    values: dict[str, Any] = {name: tuple(value) if name == "skills" else value for name, value in entry.items()}
    built = kind(**values)
    if isinstance(built, BankItem) and not all(isinstance(skill, str) for skill in built.skills):
        raise ValueError("a skill is not text")
    return built


def _require_valid(bank: Bank) -> None:
    for what, names in (("item", [entry.item for entry in bank.items]), ("model", [m.model for m in bank.models])):
        if len(set(names)) != len(names):
            raise ValueError(f"a {what} occurs twice")
    if bank.gauge not in GAUGES:
        raise ValueError("its gauge is unknown")
    locations = [entry.difficulty for entry in bank.items] + [entry.ability for entry in bank.models]
    if any(abs(value) >= FARTHEST for value in locations):
        raise ValueError(f"a value on the scale is beyond {FARTHEST} logits")
    statuses = [entry.status for entry in bank.items] + [entry.status for entry in bank.models]
    if not set(statuses) <= set(STATUSES):
        raise ValueError("a status is unknown")


def _refused(place: Path, why: str) -> DiaError:
    return DiaError(Diagnostic("E894", visible(f"`{place}` cannot be used as a bank: {why}"), None, REPEAT), 3)
