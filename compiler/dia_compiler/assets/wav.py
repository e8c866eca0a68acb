"""Recordings: Morse code, the tones of a telephone's keys, or samples as they are; WAV with one channel of 16 bits.

All samples are computed with integers, so they are the same on every machine.
"""

from __future__ import annotations

import io
import wave
from collections.abc import Iterator, Mapping
from struct import pack
from typing import Any

from dia_language.diagnostics import LanguageError
from dia_language.functions.audio import KEYS
from dia_language.functions.letter_codes import to_morse
from dia_language.numbers.sines import STEPS, sines

from dia_compiler.assets.base import Builder, OptionFault, Site, data, template

KINDS = ("morse", "keys", "samples")
RATES = (8000, 48_000)
RATE, FREQUENCY, VOLUME, UNIT = 8000, 600, 50, 60
MOST_SAMPLES, LONGEST_TEXT = 480_000, 2_000
BOUNDS = {"rate": RATES, "frequency": (200, 3000), "volume": (1, 100), "unit": (40, 500)}
# Units of sound or silence, and whether it is sound; the pause after a signal is 1, after a letter 3, a word 7.
SIGNS = {".": ((1, True), (1, False)), "-": ((3, True), (1, False)), " ": ((2, False),), "/": ((2, False),)}


class Wav(Builder):
    summary = "a WAV recording: Morse code, telephone keys (DTMF), or given samples"
    options = {
        "morse": template("a text to encode in Morse code"),
        "keys": template("telephone keys: 0 to 9, A to D, * and #"),
        "samples": data("the samples, from -32768 to 32767"),
        "rate": data("samples per second, 8000 to 48000 (default 8000)"),
        "frequency": data("the frequency of Morse code in hertz, 200 to 3000 (default 600)"),
        "unit": data("length in milliseconds of a dot or, for keys, each tone and each pause, 40 to 500 (default 60)"),
        "volume": data("volume in percent (default 50)"),
    }
    extension = "wav"
    media_type = "audio/wav"

    def validate(self, options: Mapping[str, Any]) -> None:
        """Raise OptionFault for numbers out of bounds, and for characters without a code or key."""
        for name, (low, high) in BOUNDS.items():
            if name in options and not (type(options[name]) is int and low <= options[name] <= high):
                raise OptionFault(name, f"`{name}` must be an integer from {low} to {high}")
        sources = [name for name in KINDS if name in options]
        if len(sources) > 1:
            raise OptionFault(sources[1], f"use only one of `{sources[0]}` and `{sources[1]}`")
        for name in sources:
            _check(name, options[name])

    def build(self, options: Mapping[str, Any], site: Site) -> bytes:
        rate = options.get("rate", RATE)
        samples = _samples(options, rate)
        out = io.BytesIO()
        with wave.open(out, "wb") as file:
            file.setparams((1, 2, rate, 0, "NONE", ""))
            file.writeframes(pack(f"<{len(samples)}h", *samples))
        return out.getvalue()


def _check(name: str, value: Any) -> None:
    if name == "samples":
        if not isinstance(value, list) or not 1 <= len(value) <= MOST_SAMPLES or not all(map(_is_sample, value)):
            raise OptionFault(name, f"`samples` must be 1 to {MOST_SAMPLES:,} integers from -32768 to 32767")
    elif not isinstance(value, str) or not 1 <= len(value) <= LONGEST_TEXT or not value.strip():
        raise OptionFault(name, f"`{name}` must be text of 1 to {LONGEST_TEXT:,} characters")
    elif name == "morse":
        _in_morse(value)
    elif not set(value) <= KEYS.keys():
        raise OptionFault(
            name, f"a telephone has no key `{min(set(value) - KEYS.keys())}`", "the keys are 0-9, A-D, * and #"
        )


def _is_sample(value: Any) -> bool:
    return type(value) is int and -32_768 <= value <= 32_767


def _in_morse(text: str) -> str:
    try:
        return to_morse(text)
    except LanguageError as error:
        raise OptionFault("morse", error.message, error.help) from None


def _samples(options: Mapping[str, Any], rate: int) -> list[int]:
    if "samples" in options:
        samples: list[int] = options["samples"]
        return samples
    unit = rate * options.get("unit", UNIT) // 1000
    parts = list(_parts(options))
    if sum(units for units, _ in parts) * unit > MOST_SAMPLES:
        raise OptionFault(
            None, f"the recording would have more than {MOST_SAMPLES:,} samples", "shorten the text, or reduce `unit`"
        )
    recording: list[int] = []
    for units, frequencies in parts:
        recording += _tone(frequencies, units * unit, rate, options.get("volume", VOLUME))
    return recording


def _parts(options: Mapping[str, Any]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Return the number of units of each part, and the frequencies that sound in it."""
    if "keys" in options:
        for key in options["keys"]:
            yield 1, KEYS[key]
            yield 1, ()
    elif "morse" in options:
        pitch = (options.get("frequency", FREQUENCY),)
        for sign in _in_morse(options["morse"]):
            for units, is_sound in SIGNS[sign]:
                yield units, pitch if is_sound else ()
    else:
        raise OptionFault(None, "a recording needs `morse`, `keys` or `samples`")


def _tone(frequencies: tuple[int, ...], count: int, rate: int, volume: int) -> list[int]:
    """Return samples of the frequencies together, each with the volume divided by their number."""
    table, share = sines(), 100 * max(1, len(frequencies))
    return [
        sum(table[frequency * place * STEPS // rate % STEPS] for frequency in frequencies) * volume // share
        for place in range(count)
    ]
