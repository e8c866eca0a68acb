"""Bodies of requests to three providers, captured by a local server that knows their documented schemas."""

from __future__ import annotations

import asyncio
import base64
import copy
import json
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from dia_language.confinement import sandboxes
from dia_runtime.commands.tool_options import ToolArguments, toolbox_of
from dia_runtime.respondents.attachments import part_type
from dia_runtime.respondents.chat import Settings
from dia_runtime.respondents.registry import ModelOptions
from dia_runtime.respondents.request_changes import request_changes
from dia_runtime.running.run import RunOptions, RunSummary, run
from helpers import loopback as loop
from helpers import provider_schemas as schemas

Make = Callable[..., Path]
MODELS = {"openai": "openai/gpt-4o", "anthropic": "anthropic/claude-sonnet-4-5", "gemini": "gemini/gemini-2.5-flash"}
NEEDS_LITELLM = pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed")
NEEDS_SANDBOX = pytest.mark.skipif(sandboxes.confinement() is None, reason="no sandbox works on this machine")
ROUTES = [
    pytest.param("openai", "auto", id="openai, directly"),
    *(pytest.param(name, "litellm", id=f"{name}, litellm", marks=NEEDS_LITELLM) for name in MODELS),
]
PROMPT = "What is 7 + 1? Ω"


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder and a key of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789abcdef")


def asked(
    bundle: Path, provider: str, through: str, *calls: schemas.Call, **options: Any
) -> tuple[RunSummary, list[dict[str, Any]]]:
    """What was run, and the bodies of all requests, each of which fits the provider's schema."""
    with loop.serve(schemas.is_strict("<xml>8</xml>", *calls)) as server:
        terms = RunOptions(ModelOptions(base_url=server.url, through=through, **options), concurrency=1, retries=0)
        summary = run(bundle, MODELS[provider], "a.run", terms=terms)
        bodies = [request.body for request in server.asked]
    assert [schemas.schema_faults(provider, body) for body in bodies] == [[]] * len(bodies)
    return summary, bodies


@pytest.mark.parametrize(("provider", "through"), ROUTES)
def test_system_prompt_and_settings_leave_as_documented(tiny: Make, provider: str, through: str) -> None:
    settings = Settings(temperature="0.5", max_tokens=2000, system="Reply in Latin.")
    summary, (body,) = asked(tiny(templates=1, k=1), provider, through, settings=settings)
    (entry,) = summary.respondents
    assert (entry.asked, entry.errors, entry.request_changes) == (1, 0, {})
    text = {"text": "Reply in Latin."} if provider == "gemini" else {"type": "text", "text": "Reply in Latin."}
    assert schemas.system_of(provider, body) == [text]
    numbers = body["generationConfig"] if provider == "gemini" else body
    assert numbers["temperature"] == 0.5
    limit = (
        numbers.get("max_output_tokens" if "max_output_tokens" in numbers else "maxOutputTokens")
        or numbers["max_tokens"]
    )
    assert limit == 2000
    users = [one for one in body["contents" if provider == "gemini" else "messages"] if one["role"] == "user"]
    assert len(users) == 1 and json.dumps(body, ensure_ascii=False).count(PROMPT) == 1


CODE = {"code": "print(7 + 1)"}


@NEEDS_SANDBOX
@pytest.mark.parametrize(("provider", "through"), ROUTES)
def test_tools_calls_and_results_leave_as_documented(tiny: Make, provider: str, through: str) -> None:
    toolbox = toolbox_of(ToolArguments(("python", "files")))
    bundle = tiny(templates=1, k=1)
    settings = Settings(reasoning_effort="low", max_tokens=9000) if provider == "anthropic" else Settings()
    summary, bodies = asked(bundle, provider, through, ("python", CODE), toolbox=toolbox, settings=settings)
    (entry,) = summary.respondents
    assert (entry.asked, entry.errors, len(bodies)) == (1, 0, 2)
    names = ["python", "read_file", "write_file", "list_files"]
    assert [[tool["name"] for tool in declared(provider, body)] for body in bodies] == [names, names]
    first, last = (body["contents" if provider == "gemini" else "messages"] for body in bodies)
    assert len(first) == 1 and len(last) == 3 and last[0] == first[0]
    if provider == "openai":
        call, result = last[1]["tool_calls"][0], last[2]
        assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == ("python", CODE)
        assert (result["tool_call_id"], result["content"]) == (call["id"], "8")
    elif provider == "anthropic":
        (thought, call), (result,) = last[1]["content"], last[2]["content"]
        assert thought == {"type": "thinking", "thinking": "I count.", "signature": schemas.SIGNATURE}
        assert (call["name"], call["input"], last[2]["role"]) == ("python", CODE, "user")
        assert result["tool_use_id"] == call["id"] and "8" in json.dumps(result["content"])
    else:
        (call,), (result,) = last[1]["parts"], last[2]["parts"]
        assert call["thoughtSignature"] == schemas.SIGNATURE
        made = call.get("function_call") or call["functionCall"]
        answered = result.get("function_response") or result["functionResponse"]
        assert (made["name"], made["args"], answered["name"]) == ("python", CODE, "python")
        assert "8" in json.dumps(answered["response"])


@NEEDS_SANDBOX
@pytest.mark.parametrize(("provider", "through"), ROUTES)
def test_the_last_request_with_tools_forbids_calls_as_documented(tiny: Make, provider: str, through: str) -> None:
    toolbox = toolbox_of(ToolArguments(("python",), calls=1))
    summary, bodies = asked(tiny(templates=1, k=1), provider, through, ("python", CODE), toolbox=toolbox)
    assert summary.respondents[0].errors == 0 and len(bodies) == 2
    if provider == "gemini":
        configuration = bodies[1].get("toolConfig") or bodies[1]["tool_config"]
        calling = configuration.get("functionCallingConfig") or configuration["function_calling_config"]
        assert calling["mode"] == "NONE"
    else:
        assert bodies[1]["tool_choice"] == ("none" if provider == "openai" else {"type": "none"})


def declared(provider: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    """The declarations of tools in a body."""
    if provider == "gemini":
        (tool,) = body["tools"]
        declarations: list[dict[str, Any]] = tool.get("function_declarations") or tool["functionDeclarations"]
        return declarations
    return [tool["function"] if provider == "openai" else tool for tool in body["tools"]]


# The schemas themselves


WRONG: dict[str, Callable[[Any], None]] = {
    "no messages": lambda body: body.__setitem__("messages", []),
    "a part of an unknown type": lambda body: body["messages"][0].__setitem__("content", [{"type": "zip"}]),
    "another parameter": lambda body: body.__setitem__("max_token", 5),
    "an unknown role": lambda body: body["messages"][0].__setitem__("role", "robot"),
}


@pytest.mark.parametrize("what", WRONG)
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_schema_finds_what_is_wrong(provider: str, what: str) -> None:
    body: dict[str, Any] = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "How many?"}]}
    assert schemas.schema_faults(provider, body) == []
    WRONG[what](body)
    assert schemas.schema_faults(provider, body) != []


@pytest.mark.parametrize(
    "part", [{}, {"inline_data": {"mime_type": "application/zip", "data": "AA=="}}, {"text": ""}, {"texts": "a"}]
)
def test_the_schema_of_gemini_finds_what_is_wrong(part: dict[str, Any]) -> None:
    assert schemas.schema_faults("gemini", {"contents": [{"role": "user", "parts": [{"text": "How many?"}]}]}) == []
    assert schemas.schema_faults("gemini", {"contents": [{"role": "user", "parts": [part]}]}) != []


@pytest.mark.parametrize("provider", schemas.PROVIDERS)
def test_every_schema_names_its_sources(provider: str) -> None:
    assert "Source: https://" in schemas.validator(provider).schema["$comment"]


# What litellm sends to other providers

ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_REGION_NAME": "us-east-1", "WATSONX_TOKEN": "x",
    "WATSONX_URL": "http://127.0.0.1:9", "WATSONX_PROJECT_ID": "x", "AZURE_API_VERSION": "2024-10-21",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}  # fmt: skip
OTHERS = [
    "azure/my-gpt",
    "bedrock/converse/amazon.nova-lite-v1:0",
    "bedrock/invoke/anthropic.claude-3-sonnet-20240229-v1:0",
    "cohere_chat/command-a-vision",
    "databricks/databricks-claude-sonnet-4",
    "deepseek/deepseek-chat",
    "groq/llama-4-scout",
    "mistral/pixtral-large-latest",
    "ollama/llava",
    "ollama_chat/llava",
    "watsonx/meta-llama/llama-3-2-90b-vision-instruct",
]
PNG = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
        "0000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
    )
).decode()
PDF, WAV = (base64.b64encode(content).decode() for content in (b"%PDF-1.7 paper", b"RIFF\x24\x00\x00\x00WAVE sound"))
PARTS = {
    PNG: {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
    PDF: {"type": "file", "file": {"filename": "p.pdf", "file_data": f"data:application/pdf;base64,{PDF}"}},
    WAV: {"type": "input_audio", "input_audio": {"data": WAV, "format": "wav"}},
}
SYSTEM, QUESTION = 'Reply in "Latin".\n', "\n What is 7 + 1? Ω\t\r\n \\boxed{x} <xml> {{a}}  \n"


@NEEDS_LITELLM
@pytest.mark.parametrize("model", OTHERS)
def test_the_comparison_finds_exactly_what_does_not_arrive(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    import litellm
    from dia_runtime.respondents.litellm_client import RequestCheck

    received = 0
    with loop.serve(loop.says("8")) as server:
        for data, part in [("", {"type": "text", "text": "And why?"}), *PARTS.items()]:
            content = [{"type": "text", "text": QUESTION}, part]
            messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": content}]
            checked, before = RequestCheck(messages), len(server.asked)
            sent = litellm.acompletion(
                model=model, messages=copy.deepcopy(messages), base_url=server.url, api_key="x", temperature=0.5,
                max_tokens=100, logger_fn=checked.look_at, num_retries=0, max_retries=0,
            )  # fmt: skip
            with suppress(Exception):  # replies have another form
                asyncio.run(sent)
            bodies = [request.body for request in server.asked[before:]]  # ollama is also asked for its models
            arrived = json.dumps(bodies, ensure_ascii=False)
            if checked.body is None:  # refused by litellm itself
                continue
            received += 1
            assert checked.lost == ([] if data in arrived else [part_type(part)])
            assert "Latin" in arrived and "Ω" in arrived
            assert request_changes({"temperature": 0.5, "max_tokens": 100}, checked.body, None, True) is None
        if not received:
            pytest.skip(f"litellm sends nothing to {model} on this machine")
