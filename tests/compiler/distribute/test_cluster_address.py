"""Addresses of clusters are checked before anything else, also where Dask is not installed."""

from __future__ import annotations

from pathlib import Path

import pytest
from dia_compiler.commands.cli import run
from dia_compiler.distribute.cluster_address import require_address
from helpers.failures import refusal
from helpers.small_specs import written

ADD = "template: add\ntitle: A sum\nparams: {n: {type: integer, min: 1, max: 99}}\n"
ADD += 'answer: {value: n + 1, type: integer}\nprompt: "{{ n }} + 1?"\n'


@pytest.mark.parametrize(
    "address", ["foo", "", "127.0.0.1:8786", "tcp://", "tcp://head", "tcp://:8786", "tcp://head:x", "http://head:8786",
                "tcp://[::1:8786", "tcp://head:99999", "Local"],
)  # fmt: skip
def test_what_is_no_address_is_refused(address: str) -> None:
    refusal("E600", "is not the address of a cluster", lambda: require_address(address))


@pytest.mark.parametrize("address", ["local", "tcp://head:8786", "tls://10.0.0.1:8786", "tcp://[::1]:8786"])
def test_an_address_is_accepted(address: str) -> None:
    require_address(address)


def test_a_malformed_address_is_refused_even_if_nothing_must_be_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["compile", str(written(tmp_path / "small", ADD)), "--jobs", "1", "-q"]
    assert run(command) == 0
    assert run([*command, "--cluster", "tcp://head:8786"]) == 0  # the bundle is already there
    capsys.readouterr()
    assert run([*command, "--cluster", "foo"]) == 2
    assert "`foo` is not the address of a cluster" in capsys.readouterr().err
