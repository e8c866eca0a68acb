"""Recordings that are built, against wave, a Fourier transform of numpy, and digests known beforehand."""

from __future__ import annotations

import hashlib
import io
import math
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dia_compiler.assets import BUILDERS
from dia_compiler.assets.base import OptionFault, Site
from dia_language.numbers.sines import PEAK, STEPS, sines
from helpers.library_calls import call

TONES = {697: "123A", 770: "456B", 852: "789C", 941: "*0#D"}
COLUMNS = [1209, 1336, 1477, 1633]


def built(options: dict[str, Any]) -> bytes:
    def entropy(count: int) -> bytes:
        raise AssertionError("a recording draws nothing")

    builder = BUILDERS["wav"]
    builder.validate(options)
    made = builder.build(options, Site(entropy, Path("nowhere")))
    assert isinstance(made, bytes)
    return made


def samples(recording: bytes) -> tuple[int, Any]:
    with wave.open(io.BytesIO(recording), "rb") as file:
        assert (file.getnchannels(), file.getsampwidth()) == (1, 2)
        return file.getframerate(), np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(float)


def test_sines_are_those_of_the_mathematics_library() -> None:
    assert len(sines()) == STEPS
    assert all(sines()[n] == round(PEAK * math.sin(2 * math.pi * n / STEPS)) for n in range(STEPS))


@pytest.mark.parametrize("rate", [8000, 11_025, 48_000])
def test_each_key_sounds_its_two_frequencies(rate: int) -> None:
    keys, unit = "".join(TONES.values()), 100
    held, heard = samples(built({"keys": keys, "rate": rate, "unit": unit}))
    assert held == rate
    size = rate * unit // 1000
    for number, key in enumerate(keys):
        tone = heard[2 * number * size : (2 * number + 1) * size]
        assert not heard[(2 * number + 1) * size : (2 * number + 2) * size].any()
        spectrum = abs(np.fft.rfft(tone, 10 * len(tone)))
        step = rate / (10 * len(tone))
        low, high = (
            (first + int(np.argmax(spectrum[first:last]))) * step
            for first, last in ((int(600 / step), int(1050 / step)), (int(1100 / step), int(1800 / step)))
        )
        row = next(row for row, held_keys in TONES.items() if key in held_keys)
        assert abs(low - row) < 8 and abs(high - COLUMNS[TONES[row].index(key)]) < 8


def test_morse_code_has_the_lengths_of_the_recommendation() -> None:
    rate, heard = samples(built({"morse": "et a", "unit": 50, "frequency": 1000}))
    size = rate * 50 // 1000
    loud = [bool(abs(heard[at : at + size]).max() > 1000) for at in range(0, len(heard), size)]
    shown = "".join("#" if on else "." for on in loud)
    # dot, pause between letters, dash, pause between words, dot, pause between signs, dash
    assert shown == "#" + "..." + "###" + "......." + "#" + "." + "###" + "."
    spectrum = abs(np.fft.rfft(heard[:size]))
    assert int(np.argmax(spectrum)) == 1000 * size // rate


@pytest.mark.parametrize("unit", [40, 60, 150])
@pytest.mark.parametrize("rate, frequency, volume", [(8000, 200, 100), (22_050, 3000, 1), (48_000, 601, 7)])
def test_what_is_sent_is_heard(rate: int, frequency: int, volume: int, unit: int) -> None:
    sound = {"rate": rate, "volume": volume, "unit": unit}
    recording = built({"morse": "TT 5", "frequency": frequency} | sound)
    assert call("morse_of", recording, unit) == call("to_morse", "TT 5")
    assert call("keys_of", built({"keys": "50*A#", **sound})) == "50*A#"


def test_samples_stand_as_they_are() -> None:
    given = [0, 1, -1, 32_767, -32_768]
    recording = built({"samples": given, "rate": 44_100})
    assert samples(recording)[1].tolist() == given == call("wav_samples", recording)
    assert call("wav_info", recording) == {"rate": 44_100, "channels": 1, "bits": 16, "length": 5}


@pytest.mark.parametrize(
    "options, digest",
    [
        ({"morse": "SOS DE DIA"}, "0f91ee28781e091772912a10a03dcbbea95faa22a36553e058fadd2e276c72dc"),
        (
            {"keys": "0123456789ABCD*#", "rate": 44_100, "volume": 33},
            "edb2d84efede4b7ecec6969449e12157eb1d9f6ecc44e50ac692abae18a6a89c",
        ),
    ],
)
def test_the_bytes_are_those_known_beforehand(options: dict[str, Any], digest: str) -> None:
    assert hashlib.sha256(built(options)).hexdigest() == digest


@pytest.mark.parametrize(
    "options, option",
    [
        ({}, None),
        ({"morse": "a", "keys": "1"}, "keys"),
        ({"morse": "ä"}, "morse"),
        ({"morse": " "}, "morse"),
        ({"morse": 7}, "morse"),
        ({"keys": "12E"}, "keys"),
        ({"keys": ""}, "keys"),
        ({"keys": "1" * 2001}, "keys"),
        ({"morse": "0" * 1000}, None),
        ({"samples": []}, "samples"),
        ({"samples": [32_768]}, "samples"),
        ({"samples": [True]}, "samples"),
        ({"samples": [0] * 480_001}, "samples"),
        ({"keys": "1", "rate": 7999}, "rate"),
        ({"keys": "1", "volume": 0}, "volume"),
        ({"keys": "1", "unit": 39}, "unit"),
        ({"morse": "e", "frequency": 3001}, "frequency"),
    ],
)
def test_what_cannot_be_recorded_is_told_at_its_option(options: dict[str, Any], option: str | None) -> None:
    with pytest.raises(OptionFault) as caught:
        built(options)
    assert caught.value.option == option
