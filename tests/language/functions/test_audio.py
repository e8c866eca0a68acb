"""Recordings made with floating-point sines and the module wave; and bytes that are no recordings."""

from __future__ import annotations

import contextlib
import io
import math
import wave
from struct import pack

import pytest
from dia_language.diagnostics import LanguageError
from helpers.examples import examples
from helpers.library_calls import call, refused
from hypothesis import given, settings
from hypothesis import strategies as st

# ITU-T Q.23: the keys of a row share a low frequency, those of a column a high one.
ROWS = {697: "123A", 770: "456B", 852: "789C", 941: "*0#D"}
COLUMNS = (1209, 1336, 1477, 1633)


def recorded(samples: list[int], rate: int = 8000, channels: int = 1, width: int = 2) -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setparams((channels, width, rate, 0, "NONE", ""))
        file.writeframes(pack(f"<{len(samples)}{'bh'[width - 1]}", *samples))
    return out.getvalue()


def tone(seconds: float, rate: int, *frequencies: float, loud: float = 8000) -> list[int]:
    places = range(round(seconds * rate))
    return [round(sum(loud * math.sin(2 * math.pi * f * n / rate + 1) for f in frequencies)) for n in places]


def test_samples_come_back() -> None:
    given = [0, 5, -5, 32_767, -32_768]
    assert call("wav_samples", recorded(given, 16_000)) == given
    assert call("wav_info", recorded(given, 16_000)) == {"rate": 16_000, "channels": 1, "bits": 16, "length": 5}
    assert call("wav_info", recorded([1, 2, 3, 4], 8000, 2, 1)) == {"rate": 8000, "channels": 2, "bits": 8, "length": 2}


@pytest.mark.parametrize("rate", [8000, 11_025, 44_100])
def test_keys_are_heard_with_noise_and_pauses_of_any_length(rate: int) -> None:
    samples = tone(0.13, rate)
    for low, keys in ROWS.items():
        for high in COLUMNS[: len(keys)]:
            samples += tone(0.07, rate, low * 1.01, high * 0.99) + tone(0.05, rate)
    noisy = [sample + (at * 7919 % 401 - 200) for at, sample in enumerate(samples)]
    assert call("keys_of", recorded(noisy, rate)) == "".join(ROWS.values())


@pytest.mark.parametrize("rate, frequency", [(8000, 440), (44_100, 2000)])
def test_morse_code_is_heard_though_the_hand_is_unsteady(rate: int, frequency: int) -> None:
    samples = tone(0.5, rate)
    for sign in "... --- / .-":
        length = {".": 0.055, "-": 0.19, " ": 0.12, "/": 0.118}[sign]
        samples += tone(length, rate, *([frequency] if sign in ".-" else [])) + (
            tone(0.062, rate) if sign in ".-" else []
        )
    samples += tone(0.3, rate)
    assert call("morse_of", recorded(samples, rate)) == "... --- / .-"
    assert call("from_morse", call("morse_of", recorded(samples, rate))) == "SO A"
    assert refused("morse_of", recorded(samples, rate), 100)


def test_silence_says_nothing() -> None:
    for samples in ([], [0] * 4000):
        assert call("morse_of", recorded(samples)) == "" == call("keys_of", recorded(samples))


def test_other_sounds_are_refused() -> None:
    rate = 8000
    assert "not a telephone key" in refused("keys_of", recorded(tone(0.1, rate, 440))).message
    assert "30 milliseconds" in refused("keys_of", recorded(tone(0.01, rate, 697, 1209))).message
    assert "tone of 2 units" in refused("morse_of", recorded(tone(0.12, rate, 600))).message
    assert "not Morse" in refused("morse_of", recorded((tone(0.06, rate, 600) + tone(0.06, rate)) * 9)).message
    assert refused("morse_of", recorded([]), 19) and refused("morse_of", recorded([]), 10_001)


@pytest.mark.parametrize("data", [b"", b"RIFF", b"RIFF\0\0\0\0WAVE", b"\xff" * 100, recorded([1])[:30]])
def test_what_is_no_recording_is_told(data: bytes) -> None:
    for name in ("wav_info", "wav_samples", "morse_of", "keys_of"):
        assert refused(name, data).code == "E501"


def test_other_channels_widths_and_sizes_are_refused() -> None:
    assert refused("wav_samples", recorded([1, 2], channels=2))
    assert refused("wav_samples", recorded([1, 2], width=1))
    assert refused("wav_samples", recorded([1, 2], rate=100))
    assert refused("wav_samples", recorded([0] * 500_000)).code == "E502"


@settings(max_examples=examples(200))
@given(st.data())
def test_damaged_recordings_never_surprise(data: st.DataObject) -> None:
    recording = bytearray(recorded(tone(0.06, 8000, 697, 1209)))
    for _ in range(data.draw(st.integers(1, 4))):
        recording[data.draw(st.integers(0, 60))] = data.draw(st.integers(0, 255))
    for name in ("wav_info", "wav_samples", "morse_of", "keys_of"):
        with contextlib.suppress(LanguageError):
            call(name, bytes(recording))
