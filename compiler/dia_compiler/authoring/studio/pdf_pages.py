"""Pages of PDF files as pictures, drawn by Poppler's pdftoppm if installed."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from collections import OrderedDict
from hashlib import sha256
from pathlib import Path

MOST_PAGES = 20
RESOLUTION = 72  # dots per inch
SECONDS = 10
KEPT = 10

_drawn: OrderedDict[str, tuple[bytes, ...]] = OrderedDict()


async def pdf_pages(content: bytes) -> tuple[bytes, ...]:
    """Return the first pages of a PDF file as PNG pictures; none if pdftoppm is missing, fails or takes too long."""
    key = sha256(content).hexdigest()
    if key not in _drawn:
        _drawn[key] = await _draw(content)
    _drawn.move_to_end(key)
    while len(_drawn) > KEPT:
        _drawn.popitem(last=False)
    return _drawn[key]


async def _draw(content: bytes) -> tuple[bytes, ...]:
    tool = shutil.which("pdftoppm")
    if tool is None:
        return ()
    with tempfile.TemporaryDirectory(prefix="dia-studio-") as folder:
        source = Path(folder, "file.pdf")
        source.write_bytes(content)
        arguments = ("-png", "-r", str(RESOLUTION), "-l", str(MOST_PAGES), str(source), str(Path(folder, "page")))
        silent = asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(tool, *arguments, stdin=silent, stdout=silent, stderr=silent)
        try:
            await asyncio.wait_for(process.wait(), SECONDS)
        except TimeoutError:
            return ()
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        return tuple(path.read_bytes() for path in sorted(Path(folder).glob("page*.png")))
