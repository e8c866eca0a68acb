"""Environments of other people's programs, at the versions that our files were proven with.

They are in build/.cache/harness, or in the folder that DIA_HARNESSES names; the first use of one installs it. A test
is skipped if the network is absent. Any other failure to install fails the test: a pinned version may not exist.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import venv
from pathlib import Path

import pytest
from helpers.places import ROOT

PINS = {
    "lm-eval": ["lm-eval[api]==0.4.13"],
    "inspect": ["inspect-ai==0.3.285", "openai==3.57.0"],
    "huggingface": ["datasets==5.2.0", "mlcroissant==1.1.1"],
    "lighteval": [
        "torch==2.13.0",
        "lighteval[litellm]==0.13.0",
        "litellm<1.109",  # which has no cache on the disk any more
        "huggingface_hub<1",
        "transformers<5",
        "xxhash<4",
        "orjson",
    ],
}
FIRST = {"lighteval": ["torch==2.13.0", "--index-url", "https://download.pytorch.org/whl/cpu"]}  # without CUDA
# The package `node` brings a Node newer than many systems have; it is installed before the scripts of the others run.
NODE_PINS = {
    "promptfoo": ["node@22.23.3", "promptfoo@0.123.1"],
    "yaml-language-server": ["yaml-language-server@1.25.0"],
}
NEEDED_BYTES = {"lighteval": 8 << 30}
# What pip and npm print when they cannot reach a registry.
NO_NETWORK = re.compile(
    "NewConnectionError|NameResolutionError|Temporary failure in name resolution|Network is unreachable"
    "|ENOTFOUND|EAI_AGAIN|ENETUNREACH|ECONNREFUSED|ETIMEDOUT|ConnectTimeoutError"
)
PLACE = Path(os.environ.get("DIA_HARNESSES") or ROOT / "build" / ".cache" / "harness")


def prepared(name: str) -> Path:
    """The folder with the programs of a harness, installed where it is not."""
    folder = PLACE / name
    pins = "\n".join(PINS.get(name) or NODE_PINS[name])
    marker = folder / "dia-pins.txt"
    if not marker.exists() or marker.read_text() != pins:
        PLACE.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(PLACE).free < NEEDED_BYTES.get(name, 2 << 30):
            pytest.skip(f"there is too little free space for {name}")
        _install_node(folder, name) if name in NODE_PINS else _install(folder, name)
        marker.write_text(pins)
    return folder / "node_modules" / ".bin" if name in NODE_PINS else folder / "bin"


def _install(folder: Path, name: str) -> None:
    venv.create(folder, clear=True, with_pip=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q"]
    if name in FIRST:
        _require([*pip, *FIRST[name]], name)
    _require([*pip, *PINS[name], "-e", str(ROOT)], name)


def _install_node(folder: Path, name: str) -> None:
    if shutil.which("npm") is None:
        pytest.skip(f"{name} needs npm")
    folder.mkdir(parents=True, exist_ok=True)
    npm = ["npm", "install", "--loglevel=error", "--no-audit", "--no-fund", "--prefix", str(folder)]
    for package in NODE_PINS[name]:
        _require([*npm, package], name)


def _require(command: list[str], name: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        printed = done.stdout + done.stderr
        if NO_NETWORK.search(printed):
            pytest.skip(f"{name} cannot be installed without a network")
        pytest.fail(f"{name} cannot be installed: {printed[-1000:]}")
