"""What the page shows of attachments, how chains are explained, and families as the start of templates."""

from __future__ import annotations

import io
import math
import struct
import wave
import zipfile
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.authoring.starting import shipped_benchmarks, start_from
from dia_compiler.authoring.studio.attachments import attachment_view, hex_rows
from dia_compiler.authoring.studio.readings import readings, spellings
from dia_compiler.pipeline.api import check_specs
from dia_language.diagnostics import DiaError
from dia_runtime.grading.grader import grade
from helpers.studio import BENCHMARK
from hypothesis import given
from hypothesis import strategies as st

XML = {"kind": "xml", "skip": "PASS", "rules": 2}


def test_an_archive_is_listed_without_unpacking() -> None:
    place = io.BytesIO()
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../evil.txt", "x" * 5000)
        archive.writestr("b/c.bin", b"\0")
    view = attachment_view("a.zip", "application/zip", place.getvalue())
    assert [(file["name"], file["size"]) for file in view["files"]] == [("../../evil.txt", 5000), ("b/c.bin", 1)]
    assert view["files"][0]["packed"] < 5000 and not view["files"][0]["is_encrypted"]


@pytest.mark.parametrize("channels", [1, 2])
def test_a_wave_has_the_peaks_of_the_sound(channels: int) -> None:
    place, rate = io.BytesIO(), 8000
    samples = [int(16384 * math.sin(2 * math.pi * 440 * at / rate)) if at >= rate else 0 for at in range(2 * rate)]
    with wave.open(place, "wb") as sound:
        sound.setparams((channels, 2, rate, 0, "NONE", ""))
        sound.writeframes(b"".join(struct.pack("<h", sample) * channels for sample in samples))
    view = attachment_view("a.wav", "audio/wav", place.getvalue())
    peaks, half = view["peaks"], len(view["peaks"]) // 2
    assert (view["seconds"], view["rate"], view["channels"]) == (2, rate, channels)
    assert all(peak == [0, 0] for peak in peaks[:half])
    assert all(low < -0.45 and high > 0.45 for low, high in peaks[half:])


@given(st.binary(max_size=300), st.sampled_from(["application/zip", "audio/wav", "text/plain", "application/x-elf"]))
def test_any_bytes_have_a_view(content: bytes, media_type: str) -> None:
    view = attachment_view("a", media_type, content)
    assert view["kind"] in ("archive", "sound", "text", "bytes")
    if view["kind"] == "text":
        assert view["text"].encode() == content
    shown = bytes.fromhex("".join(row[10:57] for row in hex_rows(content)))
    assert shown == content


def record(**more: Any) -> dict[str, Any]:
    return {"answer": 1200, "accept": [], "text": "1200", "comparison": {"type": "integer"},
            "mistakes": {"a_tenth": "120"}, **more}  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("<xml>1200</xml>", "Read as 1200: it equals the answer."),
        ("<xml>PASS</xml>", "The text is the skip token."),
        ("<xml>120</xml>", "Read as 120: this is the mistake `a_tenth`."),
        ("<xml>**120**</xml>", "Read as 120: this is the mistake `a_tenth`."),
        ("<xml>**7**</xml>", "Read as 7, but the answer is 1200."),
        ("<xml>x</xml>", "The text cannot be read as an answer of type integer."),
        ("1200", "No step finds an answer."),
    ],
)
def test_the_reason_of_a_verdict(reply: str, why: str) -> None:
    assert readings(record(), XML, reply)[0]["why"] == why


def test_a_text_is_shown_without_the_markdown_around_it() -> None:
    of_text = record(answer="12", text="12", comparison={"type": "text"}, mistakes={"doubled": "24"})
    for text, why in (("24", "this is the mistake `doubled`"), ("12", "it equals the answer")):
        assert readings(of_text, XML, f"<xml>**{text}**</xml>")[0]["why"] == f"Read as {text}: {why}."


def test_marks_that_belong_to_a_text_are_shown() -> None:
    of_text = record(answer="__a__", text="__a__", comparison={"type": "text"}, mistakes={"other": "__b__"})
    for text, why in (
        ("__a__", ": it equals the answer"),
        ("__b__", ": this is the mistake `other`"),
        ("__c__", ", but the answer is __a__"),
    ):
        assert readings(of_text, XML, f"<xml>{text}</xml>")[0]["why"] == f"Read as {text}{why}."


@pytest.mark.parametrize(
    ("more", "text"),
    [({"comparison": {"type": "text", "case": "fold"}}, "A"), ({"accept": ["b"]}, "b"), ({}, "a")],
)
def test_the_text_that_a_verdict_rests_on_is_shown(more: dict[str, Any], text: str) -> None:
    of_text = record(**{"answer": "a", "text": "a", "comparison": {"type": "text"}, **more})
    assert readings(of_text, XML, f"<xml>**{text}**</xml>")[0]["why"].startswith(f"Read as {text}: it equals")


@given(st.text(max_size=30) | st.sampled_from(["1200", "1,200", "PASS", "120", "1200.", "**1200**"]), st.booleans())
def test_chains_are_read_as_the_grader_reads_them(text: str, is_wrapped: bool) -> None:
    reply = f"<xml>{text}</xml>" if is_wrapped else text
    for reading in readings(record(), XML, reply):
        graded = grade(record(), reply, XML, reading["chain"])
        assert (reading["verdict"], reading["extracted"], reading["step"]) == (
            graded.verdict, graded.extracted, graded.step,
        )  # fmt: skip
        if graded.extracted is not None:
            assert {"step": graded.step, "found": graded.extracted} in reading["steps"]


def test_spellings_have_the_verdicts_of_their_replies() -> None:
    rows = {row["text"]: row for row in spellings(record(), XML, {"120": "mistake `a_tenth`"})}
    for row in rows.values():
        for chain, verdict in row["verdicts"].items():
            assert grade(record(), row["reply"], XML, chain).verdict == verdict
    assert rows["1200"]["verdicts"]["strict"] == "correct" and rows["120"]["verdicts"]["lenient"] == "wrong"
    assert rows["1,200"]["origin"] == "with thousands separators"


@pytest.mark.long
def test_every_family_compiles_as_the_start_of_a_template(tmp_path: Path) -> None:
    for home in shipped_benchmarks():
        folder = tmp_path / home.name
        folder.mkdir()
        (folder / "benchmark.yaml").write_text(BENCHMARK, encoding="utf-8")
        families = [path for path in sorted(home.glob("*.yaml")) if path.name != "benchmark.yaml"]
        for number, family in enumerate(families):
            written = start_from(family, f"mine_{number}", folder)
            assert written[0].read_text(encoding="utf-8").startswith(f"template: mine_{number}\n")
        checked = check_specs([folder], allow_programs="confined")
        assert checked.diagnostics.errors == []
        assert len(checked.benchmarks[0].benchmark.templates) == len(families) > 0


def test_a_start_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "benchmark.yaml").write_text(BENCHMARK, encoding="utf-8")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "requests.jsonl").write_text("mine", encoding="utf-8")
    family = next(home for home in shipped_benchmarks() if home.name == "boundary") / "refusal.yaml"
    with pytest.raises(DiaError, match=r"requests\.jsonl already exists, with other content"):
        start_from(family, "mine", tmp_path)
    assert not (tmp_path / "mine.yaml").exists()
    assert (tmp_path / "data" / "requests.jsonl").read_text(encoding="utf-8") == "mine"
    (tmp_path / "data" / "requests.jsonl").unlink()
    (tmp_path / "data").rmdir()
    (tmp_path / "data").symlink_to(tmp_path.parent)
    with pytest.raises(DiaError, match="a link that leads outside the folder"):
        start_from(family, "mine", tmp_path)
    with pytest.raises(DiaError, match="not a family that comes with dia"):
        start_from(tmp_path / "benchmark.yaml", "other", tmp_path)


def test_a_start_that_cannot_be_written_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "benchmark.yaml").write_text(BENCHMARK, encoding="utf-8")
    (tmp_path / "data").write_text("a file where a folder is needed", encoding="utf-8")
    family = next(home for home in shipped_benchmarks() if home.name == "boundary") / "refusal.yaml"
    with pytest.raises(DiaError, match=r"cannot be written: .*data` is not a folder") as caught:
        start_from(family, "mine", tmp_path)
    assert [(entry.code, entry.help) for entry in caught.value.diagnostics] == [("E602", "choose another folder")]
    assert not (tmp_path / "mine.yaml").exists()  # written before the file that failed
