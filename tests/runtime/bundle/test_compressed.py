"""Lines of plain and packed files, packed here by the standard library and by the zstd program's own library."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import zstandard
from dia_runtime.bundle import compressed
from dia_runtime.bundle.compressed import read_lines

CONTENT = "first\nzweite Ω\n\nlast".encode()
EXPECTED = [(1, b"first"), (2, "zweite Ω".encode()), (3, b""), (4, b"last")]


@pytest.mark.parametrize(
    "content",
    [
        CONTENT,
        CONTENT.replace(b"\n", b"\r\n"),
        gzip.compress(CONTENT),
        gzip.compress(CONTENT[:9]) + gzip.compress(CONTENT[9:]),
        zstandard.compress(CONTENT),
        zstandard.compress(CONTENT[:9]) + zstandard.compress(CONTENT[9:]),
    ],
    ids=["plain", "crlf", "gzip", "gzip of two members", "zstd", "zstd of two frames"],
)
def test_the_lines_are_the_same_however_the_file_is_packed(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.jsonl"  # what packs it is told by its bytes, not by its name
    path.write_bytes(content)
    assert list(read_lines(path)) == EXPECTED


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_damaged_file_is_told(tmp_path: Path, pack: type) -> None:
    whole = pack(CONTENT * 1000)
    for damaged in (whole[:-9], whole[: len(whole) // 2], whole[:6] + bytes(30)):
        (tmp_path / "a").write_bytes(damaged)
        with pytest.raises(ValueError, match="damaged"):
            list(read_lines(tmp_path / "a"))


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_bomb_is_refused_long_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: type
) -> None:
    monkeypatch.setattr(compressed, "FREE", 1 << 16)
    (tmp_path / "a").write_bytes(pack((b" " * 1000 + b"\n") * 10_000))
    with pytest.raises(ValueError, match="200 times its size"):
        list(read_lines(tmp_path / "a"))


def test_a_long_line_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "LONGEST_LINE", 1000)
    (tmp_path / "a").write_bytes(b"x\n" + b"y" * 1001)
    with pytest.raises(ValueError, match="line 2 is longer"):
        list(read_lines(tmp_path / "a"))


@pytest.mark.parametrize("empty", [b"\n", b" \t\r\n"])
def test_a_file_that_unpacks_to_empty_lines_ends_soon(
    tmp_path: Path, empty: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compressed, "EMPTY_LINES", 100_000)
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b'{"id": 1}\n' + empty * (compressed.EMPTY_LINES + 2)))
    read = read_lines(path)
    assert next(read) == (1, b'{"id": 1}')
    with pytest.raises(ValueError, match="empty lines in a row"):
        for _ in read:
            pass


def test_empty_lines_between_others_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "EMPTY_LINES", 3)
    (tmp_path / "a").write_bytes(b"a\n\n\n\nb\n\n\n\n" * 5)
    assert len(list(read_lines(tmp_path / "a"))) == 40
