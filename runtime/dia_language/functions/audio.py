"""Reading WAV recordings with one channel of 16-bit samples: samples, Morse code and telephone keys."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.letter_codes import SIGNS
from dia_language.functions.registry import library_function
from dia_language.limits import TEXT_LENGTH
from dia_language.numbers.sines import STEPS, sines
from dia_language.numbers.values import Record

# The two frequencies of each key in hertz. Source: ITU-T Q.23 (1988), figure 1.
LOW, HIGH = (697, 770, 852, 941), (1209, 1336, 1477, 1633)
KEYS = {
    key: (LOW[row], HIGH[column])
    for row, keys in enumerate(("123A", "456B", "789C", "*0#D"))
    for column, key in enumerate(keys)
}
BY_TONES = {tones: key for key, tones in KEYS.items()}
# Number of blocks per second of a recording; even a 200 Hz tone has a peak in each block.
BLOCKS = 200
HEARD = 50


@library_function
def wav_info(recording: bytes) -> Record:
    """The header of a WAV file: a record of rate (samples per second), channels, bits and length (in samples).

    Raises an error if the bytes are not a WAV file with uncompressed samples. Source: Multimedia Programming Interface
    and Data Specifications 1.0 (1991), section 3.

    Examples:
        wav_info(from_hex("524946462600000057415645666d74201000000001000100401f0000803e00"
            "00020010006461746102000000ffff")) -> {rate: 8000, channels: 1, bits: 16, length: 1}
    """
    import io
    import wave

    try:
        with wave.open(io.BytesIO(recording), "rb") as file:
            rate, channels, width = file.getframerate(), file.getnchannels(), file.getsampwidth()
            length = len(file.readframes(min(file.getnframes(), len(recording)))) // (channels * width)
            return Record(rate=rate, channels=channels, bits=8 * width, length=length)
    except (wave.Error, EOFError, RuntimeError, ValueError, ZeroDivisionError, OverflowError):
        raise LanguageError("the bytes are not a WAV file with uncompressed samples, or the file is damaged") from None


@library_function
def wav_samples(recording: bytes) -> list[int]:
    """The samples of a WAV file with one channel of 16 bits, as integers from -32768 to 32767.

    Raises an error for any other recording and for more than 1,000,000 bytes.

    Examples:
        wav_samples(from_hex("524946462600000057415645666d74201000000001000100401f0000803e00"
            "00020010006461746102000000ffff")) -> [-1]
    """
    return _rate_and_samples(recording)[1]


def _rate_and_samples(recording: bytes) -> tuple[int, list[int]]:
    import io
    import wave
    from struct import unpack

    if len(recording) > TEXT_LENGTH:
        raise LanguageError(f"the recording exceeds {TEXT_LENGTH:,} bytes", code="E502")
    info = wav_info(recording)
    if info["channels"] != 1 or info["bits"] != 16 or info["rate"] < 8000:
        raise LanguageError("the recording must have one channel of 16 bits and 8,000 or more samples per second")
    charge(info["length"])
    with wave.open(io.BytesIO(recording), "rb") as file:
        frames = file.readframes(info["length"])
    return info["rate"], list(unpack(f"<{info['length']}h", frames[: 2 * info["length"]]))


@library_function
def morse_of(recording: bytes, unit: int = 60) -> str:
    """The Morse code in a recording, in the notation of `to_morse`.

    `unit` is the length of a dot in milliseconds. All lengths are rounded to whole units. A tone of one unit is a dot,
    a tone of three units a dash. A pause of one unit separates signals, three units separate letters and seven units
    separate words. Raises an error for any other length. Source: ITU-R M.1677-1, section 2.

    Examples:
        morse_of(from_hex(concat("52494646e403000057415645666d74201000000001000100401f0000803e00000200100064617461",
            "c0030000", repeat("004000c0", 240)))) -> "."
    """
    if not 20 <= unit <= 10_000:
        raise LanguageError("`unit` must be from 20 to 10,000 milliseconds")
    rate, samples = _rate_and_samples(recording)
    parts = [(is_sound, _units(length, rate, unit)) for is_sound, _, length in _runs(rate, samples)]
    if parts and not parts[0][0]:
        del parts[0]
    if parts and not parts[-1][0]:
        del parts[-1]
    code = "".join(_sign(*part) for part in parts)
    if not set(code.replace(" / ", " ").split(" ")) - {""} <= SIGNS.keys():
        raise LanguageError("the recording is not Morse code with dots of this length")
    return code


def _units(length: int, rate: int, unit: int) -> int:
    """The number of samples, rounded to whole units."""
    return (2000 * length + rate * unit) // (2 * rate * unit)


def _sign(is_sound: bool, units: int) -> str:
    signs = {1: ".", 3: "-"} if is_sound else {1: "", 3: " ", 7: " / "}
    if units not in signs:
        raise LanguageError(
            f"the recording has a {'tone' if is_sound else 'pause'} of {units} units, which Morse code does not use"
        )
    return signs[units]


@library_function
def keys_of(recording: bytes) -> str:
    """The telephone keys (DTMF tones) in a recording, as text: 0 to 9, A to D, * and #.

    Each tone must last 30 milliseconds or more and be followed by silence or the end. Raises an error for any other
    tone. Source: ITU-T Q.23 (1988).

    Examples:
        keys_of(from_hex(concat("52494646a802000057415645666d74201000000001000100401f0000803e00000200100064617461",
            "84020000", repeat("0000002900390027000500ed00eb00f8000100f800e400db00ec00120035003c002000f400d400d200"
            "e900010009000000f600fe0016002d002b000b00df00c300ca00ed00130024001b000700"
            "fe00070014001200fa00d800c600d6", 7)))) -> "1"
    """
    rate, samples = _rate_and_samples(recording)
    tones = [samples[start : start + length] for is_sound, start, length in _runs(rate, samples) if is_sound]
    return "".join(_key(tone[: rate * HEARD // 1000], rate) for tone in tones)


def _key(tone: list[int], rate: int) -> str:
    if len(tone) * 1000 < 30 * rate:
        raise LanguageError("a tone of the recording is shorter than 30 milliseconds")
    charge(len(tone))
    loudest = []
    for group in (LOW, HIGH):
        powers = sorted((_power(tone, frequency, rate), frequency) for frequency in group)
        if powers[-1][0] < 4 * powers[-2][0]:
            raise LanguageError("a tone of the recording is not a telephone key")
        loudest.append(powers[-1][1])
    return BY_TONES[loudest[0], loudest[1]]


def _power(tone: list[int], frequency: int, rate: int) -> int:
    """The power of the tone at the frequency: its squared component in the discrete Fourier transform."""
    table = sines()
    places = [frequency * place * STEPS // rate % STEPS for place in range(len(tone))]
    across = sum(sample * table[place] for sample, place in zip(tone, places, strict=True))
    along = sum(sample * table[(place + STEPS // 4) % STEPS] for sample, place in zip(tone, places, strict=True))
    return across * across + along * along


def _runs(rate: int, samples: list[int]) -> Iterator[tuple[bool, int, int]]:
    """Runs of sound and silence: whether a run is sound, its first sample, and its length."""
    size = rate // BLOCKS
    quiet = max(map(abs, samples), default=0) // 4
    blocks = [max(map(abs, samples[at : at + size])) > quiet for at in range(0, len(samples), size)]
    start = 0
    for is_sound, run in groupby(blocks):
        length = len(list(run)) * size
        yield is_sound, start, min(length, len(samples) - start)
        start += length
