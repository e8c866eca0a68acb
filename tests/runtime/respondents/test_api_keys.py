"""Keys: where they come from, where they go, and that they come out nowhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.commands.cli import run as dia
from dia_language.diagnostics import DiaError
from dia_runtime.respondents import rate_limit as pacing
from dia_runtime.respondents.api_keys import find_key, read_env_file, redact
from dia_runtime.respondents.openai_compatible import is_local, proxy_of
from dia_runtime.respondents.registry import ModelOptions, key_destinations, require_base_url, resolve_endpoint
from helpers import loopback as loop
from helpers.failures import refusal, refused_call

Make = Callable[..., Path]
KEY = "sk-planted-0123456789abcdef"
LITELLM = pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed")


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.endswith("_API_KEY") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setattr(pacing, "FIRST_WAIT", 0.002)


def test_a_key_comes_from_the_environment_before_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("MY_API_KEY=of-the-file\n")
    assert find_key("MY_API_KEY") == "of-the-file"
    monkeypatch.setenv("MY_API_KEY", " of-the-environment\n")
    assert find_key("MY_API_KEY") == "of-the-environment"
    assert find_key("OTHER_API_KEY") is None


def test_only_names_of_keys_are_read_from_the_file(tmp_path: Path) -> None:
    lines = [
        "A_API_KEY=plain",
        "export B_API_KEY = 'quoted # not a comment'",
        'C_API_KEY="double"  ',
        "D_API_KEY=bare # a comment",
        "OPENAI_BASE_URL=http://evil",
        "HTTPS_PROXY=http://evil",
        "PATH=/evil",
        "a_api_key=lower",
        "# E_API_KEY=no",
        "F_API_KEY_=no",
        "no sign",
    ]
    (tmp_path / ".env").write_text("\n".join(lines))
    expected = {"A_API_KEY": "plain", "B_API_KEY": "quoted # not a comment", "C_API_KEY": "double", "D_API_KEY": "bare"}
    assert read_env_file(tmp_path) == expected
    assert not {"OPENAI_BASE_URL", "HTTPS_PROXY"} & set(os.environ)


@pytest.mark.parametrize("name", ["manifest.json", "benchmark.yaml"])
def test_the_file_of_a_bundle_or_of_specs_is_not_read(tmp_path: Path, name: str) -> None:
    (tmp_path / ".env").write_text("A_API_KEY=x")
    (tmp_path / name).touch()
    assert read_env_file(tmp_path) == {}


def test_no_other_kind_of_file_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".env")  # to read it would hang
    assert read_env_file(tmp_path) == {}
    (tmp_path / ".env").unlink()
    (tmp_path / ".env").write_bytes(b"A_API_KEY=" + b"x" * 100_000)
    assert read_env_file(tmp_path) == {}
    (tmp_path / ".env").write_bytes(b"A_API_KEY=\xff\xfe")
    assert read_env_file(tmp_path) == {}


@pytest.mark.parametrize("name", ["PATH", "OPENAI_BASE_URL", "x_api_key", "A_API_KEY\nB", "_API_KEY", ""])
def test_only_keys_can_be_named(name: str) -> None:
    with pytest.raises(DiaError) as caught:
        find_key(name)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("value", ["a\r\nX-Injected: 1", "a\x00b", "schlüssel", "a\x1bb"])
def test_a_key_that_cannot_be_sent_is_told_without_its_value(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "\x00" in value:
        (tmp_path / ".env").write_bytes(b'A_API_KEY="' + value.encode() + b'"')
    else:
        monkeypatch.setenv("A_API_KEY", value)
    with pytest.raises(DiaError) as caught:
        find_key("A_API_KEY")
    assert "A_API_KEY" in str(caught.value) and value not in str(caught.value)


def test_secrets_are_taken_out_of_texts() -> None:
    assert redact(f"Bearer {KEY}, {KEY}!", None, "", KEY) == "Bearer ***, ***!"


BASE_URLS = [
    "ftp://h/v1",
    "h:80/v1",
    "http://",
    "",
    "http://user:pass@h/v1",
    "http://h/v1?key=x",
    "http://h/#x",
    "http://h/v1/chat/completions/",
]


@pytest.mark.parametrize(
    "url", [*BASE_URLS, "http://h:99999/v1", "http://[::1/v1", "http://h/\nv1", "file:///etc/passwd"]
)
def test_what_is_no_base_url_is_refused(url: str) -> None:
    words = "help: write http://HOST/v1 or https://HOST/v1"
    if "chat" in url:
        words = "is the address of requests, not a base URL\n  help: remove `/chat/completions`"
    elif any(sign in url for sign in "@?#\n"):
        words = "contains more than a host and a path\n  help: write only"
    error = refusal("E824", words, lambda: require_base_url(url))
    assert "pass" not in str(error).replace("passwd", "")


def test_each_provider_gets_its_own_key_at_its_own_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "gsk-123")
    place = resolve_endpoint("groq/llama", ModelOptions())
    assert place is not None and (place.base_url, place.model_id, place.key) == (
        "https://api.groq.com/openai/v1",
        "llama",
        "gsk-123",
    )
    other = resolve_endpoint("openai/gpt", ModelOptions())
    assert other is not None and other.key is None
    assert resolve_endpoint("anthropic/claude", ModelOptions()) is None


def test_hosts_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert key_destinations(["openai/a", "openai/b"], ModelOptions()) == ["OPENAI_API_KEY goes to api.openai.com"]
    assert key_destinations(["x"], ModelOptions(base_url="http://far.example:81/v1")) == [
        "OPENAI_API_KEY goes to far.example:81 (not encrypted)"
    ]
    assert key_destinations(["x"], ModelOptions(base_url="http://127.0.0.1:81/v1")) == [
        "OPENAI_API_KEY goes to 127.0.0.1:81"
    ]
    assert key_destinations(["x"], ModelOptions(base_url="http://[::1]:81/v1", key_name="NONE_API_KEY")) == []
    assert "anthropic" in key_destinations(["anthropic/claude"], ModelOptions())[0]
    assert KEY not in "".join(key_destinations(["openai/a"], ModelOptions(through="litellm", base_url="https://h/v1")))


def test_proxies_of_the_environment_are_used_but_never_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    monkeypatch.setenv("HTTP_PROXY", "http://proxy:3128")
    monkeypatch.setenv("NO_PROXY", "inside.example")
    assert proxy_of("https://api.openai.com/v1") == "http://proxy:3128"
    assert proxy_of("https://inside.example/v1") is None
    for url in ("http://localhost:1/v1", "http://127.0.0.1/v1", "http://[::1]:9/v1"):
        assert is_local(url) and proxy_of(url) is None
    assert not is_local("http://127.0.0.1.evil.example/v1")


ECHO = {
    "an error": (lambda told: (400, {"error": {"message": f"bad key {told}", "code": told}})),
    "a refusal": (lambda told: (401, {"error": {"message": f"Incorrect API key provided: {told}"}})),
    "a rate limit": (lambda told: (429, {"error": told})),
    "a server error": (lambda told: (500, {"detail": told})),
    "a wrong shape": (lambda told: (200, {"told": told})),
    "a reply": (lambda told: (200, loop.completion(f"you sent {told}") | {"model": told})),
    "a redirect": (lambda told: (302, {"to": told})),
    "a filter": (lambda told: (400, {"error": {"message": f"content_filter {told}"}})),
}


def echo(kind: str) -> loop.Answer:
    async def answer(asked: loop.Asked, request: Any) -> Any:
        from aiohttp import web

        status, body = ECHO[kind](asked.headers["Authorization"])
        return web.json_response(body, status=status, headers={"Location": f"/x?{KEY}"} if status == 302 else None)

    return answer


@pytest.mark.parametrize("through", ["auto", pytest.param("litellm", marks=LITELLM)])
@pytest.mark.parametrize("kind", ECHO)
def test_a_key_that_is_sent_back_comes_out_nowhere(
    tiny: Make,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    through: str,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    bundle, out = tiny(templates=1, k=1), tmp_path / "out"
    out.mkdir()
    with loop.serve(echo(kind)) as server:
        options = [
            "--base-url",
            server.url,
            "--through",
            through,
            "--retries",
            "1",
            "--patience",
            "0",
            "--json",
            "--cache",
        ]
        code = dia(
            [
                "--log-file",
                str(out / "log"),
                "run",
                str(bundle),
                "--model",
                "openai/m",
                "-o",
                str(out / "a.run"),
                *options,
            ]
        )
    printed = capfd.readouterr()
    assert server.asked and KEY in server.asked[0].headers["Authorization"]
    assert code in (0, 1, 4)
    assert KEY not in printed.out + printed.err
    assert f"goes to 127.0.0.1:{server.port}" in printed.err
    for path in [*out.iterdir(), *(tmp_path / "build").rglob("*")]:
        assert path.is_dir() or KEY.encode() not in path.read_bytes(), path


@pytest.mark.parametrize(
    "line",
    [
        "base-url = 'http://evil/v1'",
        "key-name = 'OPENAI_API_KEY'",
        "model = ['openai/x']",
        "system = '@/etc/passwd'",
        "parameter = ['a=1']",
        "through = 'litellm'",
        "cache = true",
        "role = ['judge=command:touch made']",
        "role-base-url = ['judge=http://evil/v1']",
    ],
)
@pytest.mark.parametrize("head", ["", "[run]\n"])
def test_a_file_in_the_folder_cannot_say_where_keys_go(
    tiny: Make, capsys: pytest.CaptureFixture[str], line: str, head: str
) -> None:
    Path("dia.toml").write_text(head + line)
    assert dia(["run", str(tiny()), "--model", "oracle"]) == 2
    assert "can only be given on the command line" in capsys.readouterr().err


def test_a_bundle_cannot_redirect_a_key(tiny: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files in a bundle, which is also the folder where the command is run and the user's home."""
    bundle = tiny(templates=1, k=1)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("HOME", str(bundle))
    monkeypatch.chdir(bundle)
    with loop.serve(loop.says()) as evil, loop.serve(loop.says()) as server:
        planted = f"OPENAI_API_KEY=sk-of-a-stranger\nOPENAI_BASE_URL={evil.url}\nHTTP_PROXY={evil.url}\n"
        where = ["run", ".", "--model", "m", "--base-url", server.url, "-o", str(tmp_path / "a.run")]
        Path(".env").write_text(planted)
        assert dia(where) == 3  # a file that the bundle does not list
        Path(".env").unlink()
        Path("provenance.json").write_text(planted)  # the one file that no digest covers
        assert dia(where) == 0
    assert evil.asked == [] and [request.headers["Authorization"] for request in server.asked] == [f"Bearer {KEY}"]


def test_a_file_of_the_user_with_passwords_is_not_read(
    tiny: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login x password y\n")
    with loop.serve(loop.says()) as server:
        assert dia(["run", str(tiny(templates=1, k=1)), "--model", "m", "--base-url", server.url, "-q"]) == 0
    assert "Authorization" not in server.asked[0].headers


@pytest.mark.parametrize("place", ["/dev/null/a.run", "/proc/none/a.run", "/proc/a.run"])
def test_a_run_that_cannot_be_made_is_told(tiny: Make, place: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = refused_call("E804", f"`{place}` cannot be ", capsys, "run", tiny(), "--model", "oracle", "-o", place)
    assert "help: check the path, its permissions and the free disk space" in text


@pytest.mark.long
@LITELLM
def test_litellm_reads_no_file_that_lies_about(tiny: Make, tmp_path: Path) -> None:
    """litellm's own import loads `.env` files, also those of folders above it, with any names in them."""
    bundle = tiny(templates=1, k=1)
    with loop.serve(loop.says()) as evil, loop.serve(loop.says()) as server:
        lines = f"OPENAI_BASE_URL={evil.url}\nOPENAI_API_BASE={evil.url}\nHTTP_PROXY={evil.url}\nPLANTED=1\nOPENAI_API_KEY={KEY}\n"
        Path(".env").write_text(lines)
        program = (
            "import sys, os; from dia_compiler.commands.cli import run;"
            f"code = run(['run', {str(bundle)!r}, '--model', 'openai/m', '--base-url', {server.url!r}, '--through',"
            " 'litellm', '-o', 'a.run', '--retries', '0']); print('PLANTED' in os.environ); sys.exit(code)"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout.split()[-1] == "False" and evil.asked == [] and len(server.asked) == 1
        assert server.asked[0].headers["Authorization"] == f"Bearer {KEY}"  # a key of this folder is the user's


@pytest.mark.parametrize("module", ["aiohttp", "litellm"])
def test_what_is_missing_is_told(
    tiny: Make, module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import importlib

    made = {
        "aiohttp": "dia_runtime.respondents.openai_compatible",
        "litellm": "dia_runtime.respondents.litellm_client",
    }[module]
    monkeypatch.setattr(importlib.import_module(made), "find_spec", lambda name: None)
    model = {"aiohttp": "hosted_vllm/m", "litellm": "anthropic/m"}[module]
    code = {"aiohttp": "E827", "litellm": "E826"}[module]
    told = refused_call(code, f"{module}, which is not installed", capsys, "run", tiny(), "--model", model)
    assert "pip install" in told and not Path("build").exists()


def test_a_misspelled_provider_gets_a_suggestion(
    tiny: Make, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = str(tiny())
    monkeypatch.setattr("dia_runtime.respondents.litellm_client.find_spec", lambda name: None)
    for model, suggested in (("opnai/gpt", "openai/gpt"), ("openruoter/a/b", "openrouter/a/b"), ("anthropic/m", None)):
        assert dia(["run", bundle, "--model", model]) == 2
        told = capsys.readouterr().err
        assert "error[E826]" in told and ("did you mean" in told) == (suggested is not None)
        assert suggested is None or f"did you mean `{suggested}`? Otherwise, run `pip install '.[models]'`" in told


@LITELLM
def test_a_provider_that_litellm_does_not_know_gets_a_suggestion(
    tiny: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dia(["run", str(tiny()), "--model", "opnai/gpt", "--concurrency", "1"]) == 4
    assert "litellm does not know the provider `opnai`; did you mean `openai/gpt`?" in capsys.readouterr().err


def test_a_missing_key_is_told_before_anything_is_made(tiny: Make, capsys: pytest.CaptureFixture[str]) -> None:
    assert dia(["run", str(tiny()), "--model", "openai/gpt-4o-mini"]) == 2
    told = capsys.readouterr().err
    assert "E823" in told and "OPENAI_API_KEY" in told and not Path("build").exists()


def test_exit_codes_and_facts_of_the_command(tiny: Make, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = str(tiny(templates=1, k=3))
    scripts = {"bad": loop.fails(404, "no such model"), "good": loop.says(), "odd": loop.fails(400, "no")}
    with loop.serve(loop.for_model(scripts)) as server:
        where = ["run", bundle, "--base-url", server.url, "-o", "a.run", "--json", "--concurrency", "1"]
        assert dia([*where, "--model", "good", "--budget-requests", "2"]) == 1
        told = capsys.readouterr()
        assert "stopped early: the budget is spent" in told.err and json.loads(told.out)["runs"][0]["asked"] == 2
        assert dia([*where, "--model", "good"]) == 0
        facts = json.loads(capsys.readouterr().out)["runs"][0]
        assert (facts["asked"], facts["kept"], facts["requests"], facts["prompt_tokens"]) == (1, 2, 1, 10)
        assert dia([*where, "--model", "bad", "--model", "good"]) == 4
        told = capsys.readouterr()
        assert "error[E825]" in told.err and "no such model" in told.err
        assert [entry["ended"] is None for entry in json.loads(told.out)["runs"]] == [False, True]
        assert dia([*where, "--model", "odd"]) == 4


@pytest.mark.parametrize(
    "options",
    [
        ["--parameter", "api_key=x"],
        ["--parameter", "base_url=http://evil"],
        ["--parameter", "x"],
        ["--parameter", "A=1"],
        ["--part", "0/2"],
        ["--part", "3/2"],
        ["--part", "x"],
        ["--temperature", "hot"],
        ["--budget-usd", "-1"],
        ["--system", "@missing"],
    ],
)
def test_options_that_make_no_sense(tiny: Make, options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert dia(["run", str(tiny()), "--model", "hosted_vllm/m", *options]) == 2
    assert "E600" in capsys.readouterr().err and not Path("build").exists()


def test_parameters_are_json_or_text(tiny: Make) -> None:
    given = ["top_p=0.95", 'stop=["a", "b"]', "user=me", "logprobs=true", "tag=NaN"]
    with loop.serve(loop.says()) as server:
        options = [part for text in given for part in ("--parameter", text)]
        assert dia(["run", str(tiny(templates=1, k=1)), "--model", "m", "--base-url", server.url, "-q", *options]) == 0
    body = server.asked[0].body
    assert (body["top_p"], body["stop"], body["user"], body["logprobs"], body["tag"]) == (
        0.95,
        ["a", "b"],
        "me",
        True,
        "NaN",
    )
    assert "Authorization" not in server.asked[0].headers
