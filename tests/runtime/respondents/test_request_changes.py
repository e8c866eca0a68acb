"""Settings of a request that litellm changes without an error, and text that it removes."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from dia_runtime.respondents.attachments import lost_parts
from dia_runtime.respondents.request_changes import NAMES, request_changes
from helpers import loopback as loop
from helpers import schemas as published
from helpers.provider_schemas import is_strict
from hypothesis import given
from hypothesis import strategies as st

Make = Callable[..., Path]
CLAUDE = "anthropic/claude-sonnet-4-5"
CHANGE = "litellm set max_tokens to 5,120 (the model allows 64,000)"
NEEDS_LITELLM = pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed")


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder and a key of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789abcdef")


def called(name: str, *arguments: object) -> Result:
    module = import_module(f"dia_runtime.commands.{name}")
    return CliRunner().invoke(module.command, list(map(str, arguments)), standalone_mode=False)


@NEEDS_LITELLM
def test_a_limit_that_litellm_lowers_is_reported_everywhere(tiny: Make) -> None:
    bundle = tiny(templates=1)
    with loop.serve(is_strict()) as server:
        asking = ("run", bundle, "--model", CLAUDE, "--base-url", server.url, "--through", "litellm", "-o", "a.run")
        result = called(*asking, "--reasoning-effort", "low")
        record = json.loads(called(*asking, "--reasoning-effort", "low", "--json", "-q").stdout)
    assert {request.body["max_tokens"] for request in server.asked} == {5120}
    note = f"{CLAUDE}: {CHANGE}: 3 requests. Use `--max-tokens` to choose the limit.\n"
    assert result.return_value == 0 and note in result.stderr
    assert record["runs"][0]["request_changes"] == [], "nothing was asked again"
    expected = [{"change": CHANGE, "replies": 3}]
    scored = json.loads(called("score", "a.run", "--json").stdout)
    assert scored["models"][0]["request_changes"] == expected and not published.faults("score", scored)
    shown = called("show", "a.run", "--json")
    assert json.loads(shown.stdout)["respondents"][0]["request_changes"] == expected
    assert not published.faults("show", json.loads(shown.stdout))
    assert f"({CHANGE})\n<xml>8</xml>\n" in called("show", "a.run", "sum_0/1").stdout
    assert f"    {CHANGE}: 3 requests\n" in called("show", "a.run").stdout
    assert CHANGE in " ".join(called("score", "a.run").stdout.split())
    for form in ("csv", "markdown"):
        assert f"note: {CLAUDE}: {CHANGE}, in 3 requests\n" in called("score", "a.run", "--format", form).stderr
    called("report", "a.run", "-o", "r.html")
    assert CHANGE in Path("r.html").read_text()


@NEEDS_LITELLM
@pytest.mark.parametrize(
    ("more", "sent"),
    [
        ((), 64000),
        (("--max-tokens", "2000"), 2000),
        (("--max-tokens", "20000", "--reasoning-effort", "low"), 20000),
    ],
)
def test_what_leaves_as_it_was_meant_is_not_reported(tiny: Make, more: tuple[str, ...], sent: int) -> None:
    with loop.serve(is_strict()) as server:
        asking = ("--model", CLAUDE, "--base-url", server.url, "--through", "litellm", "-o", "a.run")
        result = called("run", tiny(templates=1, k=1), *asking, "--json", "-q", *more)
    record = json.loads(result.stdout)
    assert [request.body["max_tokens"] for request in server.asked] == [sent]
    assert record["runs"][0]["request_changes"] == [] and not published.faults("run", record)


@NEEDS_LITELLM
def test_changes_survive_the_cache_and_the_export_of_replies(tiny: Make) -> None:
    bundle = tiny(templates=1, k=1)
    with loop.serve(is_strict()) as server:
        asking = ("--model", CLAUDE, "--base-url", server.url, "--through", "litellm", "--reasoning-effort", "low")
        for path in ("a.run", "b.run"):
            result = called("run", bundle, *asking, "--cache", "--json", "-q", "-o", path)
    assert len(server.asked) == 1
    assert json.loads(result.stdout)["runs"][0]["request_changes"] == [{"change": CHANGE, "replies": 1}]
    called("export", "b.run", "--to", "replies", "-o", "out")
    (line,) = Path("out/replies.jsonl").read_text().splitlines()
    assert json.loads(line)["request_changes"] == CHANGE and not published.faults("reply", json.loads(line))


@NEEDS_LITELLM
def test_a_system_prompt_that_is_not_sent_makes_the_reply_an_error(tiny: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    from litellm.llms.anthropic.chat.transformation import AnthropicConfig

    def without_system(self: Any, messages: list[dict[str, Any]]) -> list[Any]:
        messages[:] = [message for message in messages if message["role"] != "system"]
        return []

    asking = ("--model", CLAUDE, "--through", "litellm", "--system", "Reply in Latin.", "--retries", 0, "--json", "-q")
    bundle = tiny(templates=1, k=1)
    with loop.serve(is_strict()) as server:
        asking += ("--base-url", server.url)
        whole = called("run", bundle, *asking, "-o", "a.run")
        monkeypatch.setattr(AnthropicConfig, "translate_system_message", without_system)
        lost = called("run", bundle, *asking, "-o", "b.run")
    assert [("Latin" in json.dumps(request.body)) for request in server.asked] == [True, False]
    (good,), (bad,) = (json.loads(result.stdout)["runs"] for result in (whole, lost))
    assert (good["errors"], bad["errors"]) == (0, 1)
    assert bad["causes"] == [
        {"replies": 1, "example": "request: litellm removed parts of the request to anthropic: text"}
    ]


# The comparison

SETTINGS = st.fixed_dictionaries(
    {},
    optional={"max_tokens": st.integers(1, 9), "temperature": st.sampled_from([0, 0.5, 1]), "seed": st.integers(0, 3)},
)


@given(SETTINGS, SETTINGS, st.data())
def test_every_difference_is_reported_and_no_other(
    meant: dict[str, Any], sent: dict[str, Any], data: st.DataObject
) -> None:
    renamed = {data.draw(st.sampled_from(NAMES[name])): value for name, value in sent.items()}
    decoy = [{"role": "user", "content": {"temperature": 7, "max_tokens": 7}}]
    for body in ({"messages": decoy, **renamed}, {"contents": decoy, "generationConfig": renamed, "tools": decoy}):
        changes = (request_changes(meant, body, None, is_known=True) or "").split("; ")
        names = {name for name in NAMES if meant.get(name) != sent.get(name)}
        assert {name for name in NAMES for change in changes if f" {name}" in change} == names


def test_settings_that_may_have_other_names_are_not_reported_as_left_out() -> None:
    assert request_changes({"seed": 3}, {"messages": []}) is None
    assert request_changes({"seed": 3}, {"messages": []}, is_known=True) == "litellm left out seed, which was 3"
    assert request_changes({}, {"max_tokens": 64000}, 64000) is None and request_changes({}, None) is None
    assert request_changes({}, {"max_tokens": 4096}) == "litellm set max_tokens to 4,096"
    assert request_changes({}, {"stream": True, "seed": True}) is None, "true is no number"


@pytest.mark.parametrize("content", ["", "   ", None])
def test_empty_messages_cannot_be_lost(content: str | None) -> None:
    assert lost_parts([{"role": "assistant", "content": content}], {"messages": []}) == []
