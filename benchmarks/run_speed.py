"""What asking costs: 1,000 questions to a server on this machine that takes 50 ms, 64 at once, every reply durable.

    python benchmarks/run_speed.py [--questions 1000] [--repeat 5] [--with lm-eval=VENV] [--with inspect=VENV]

Ideal is 1,000 / 64 * 50 ms = 0.78 s. Beside `dia run` stand plain aiohttp, which keeps nothing, and litellm alone,
where it is installed; lm-eval and Inspect where the folder of an environment that has them is named. The server is a
process of its own. CPU is that of the client's process, without start-up: import, and laying the questions down.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter

ROOT = Path(__file__).resolve().parent.parent
AT_ONCE, DELAY = 64, 0.05
SERVER = """
import asyncio, json, sys
from aiohttp import web
delay = float(sys.argv[1])
body = json.dumps({"id": "x", "object": "chat.completion", "created": 1, "model": "loop",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "<xml>4</xml>"}}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}}).encode()
async def answer(request):
    await request.read()
    await asyncio.sleep(delay)
    return web.Response(body=body, content_type="application/json")
async def main():
    app = web.Application(client_max_size=1 << 26)
    app.router.add_post("/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""
# Each prints seconds of the requests, and CPU seconds of the requests and of the start-up before them.
AROUND = """
import asyncio, json, sys, time
url, prompts, through, bundle, out = sys.argv[1], json.load(open(sys.argv[2])), sys.argv[3], sys.argv[4], sys.argv[5]
{ready}
start, cpu = time.perf_counter(), time.process_time()
{ask}
print(json.dumps([time.perf_counter() - start, time.process_time() - cpu, cpu]))
"""
DIA = AROUND.format(
    ready="""
from dia_runtime.respondents.registry import ModelOptions
from dia_runtime.bundle.open import open_bundle
from dia_runtime.running.load_questions import load_questions
from dia_runtime.running.run import RunOptions, run
from dia_runtime.store.store import open_store
opened = open_bundle(bundle)
with open_store(out, opened.questions_root) as store:
    load_questions(store, opened)
if through == "litellm":
    import os
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm
else:
    import aiohttp
""",
    ask="""
found = run(bundle, "openai/m", out, terms=RunOptions(ModelOptions(base_url=url, through=through), 64))
assert found.respondents[0].asked == len(prompts) and not found.has_errors
""",
)
AIOHTTP = AROUND.format(
    ready="import aiohttp",
    ask="""
async def main():
    todo = iter(prompts)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        async def worker():
            for prompt in todo:
                body = {"model": "m", "messages": [{"role": "user", "content": prompt}]}
                async with session.post(f"{url}/chat/completions", json=body) as response:
                    assert (await response.json())["choices"]
        await asyncio.gather(*(worker() for _ in range(64)))
asyncio.run(main())
""",
)
LITELLM = AROUND.format(
    ready="import os; os.environ['LITELLM_LOCAL_MODEL_COST_MAP'] = 'True'; import litellm",
    ask="""
async def main():
    todo = iter(prompts)
    async def worker():
        for prompt in todo:
            messages = [{"role": "user", "content": prompt}]
            answer = await litellm.acompletion(
                model="openai/m", messages=messages, base_url=url, api_key="none", num_retries=0, max_retries=0)
            assert answer.choices
    await asyncio.gather(*(worker() for _ in range(64)))
asyncio.run(main())
""",
)


@contextmanager
def server(delay: float) -> Iterator[str]:
    """The base URL of a server in a process of its own."""
    with subprocess.Popen([sys.executable, "-c", SERVER, str(delay)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
        finally:
            process.kill()


def bundle_of(folder: Path, questions: int) -> Path:
    """A bundle of so many questions."""
    template = ROOT / "specs" / "dia_bench" / "d001_next_prime.yaml"
    command = [
        sys.executable,
        "-m",
        "dia_compiler.commands.cli",
        "compile",
        str(template),
        "--k",
        str(questions),
        "-q",
        "--json",
    ]
    done = subprocess.run([*command, "-o", str(folder)], capture_output=True, text=True, check=True)
    return Path(json.loads(done.stdout)["bundles"][0]["path"])


def whole(
    command: list[str], environment: dict[str, str] | None = None, folder: Path | None = None
) -> tuple[float, float, str]:
    """Seconds and CPU seconds of a whole process, start-up included, and what it printed last."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    env = {**os.environ, **(environment or {})}
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=folder, check=False)
    seconds, after = perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, cpu, (done.stdout.strip().splitlines() or [""])[-1]


Row = tuple[float, float, float]
"""Seconds of the requests, CPU milliseconds a request, seconds of the whole process."""


def measured(program: str, arguments: list[str], questions: int) -> Row:
    """One run of a program that times its own requests."""
    seconds, _, told = whole([sys.executable, "-c", program, *arguments])
    requests, cpu, _ = json.loads(told)
    return requests, cpu * 1000 / questions, seconds


def show(name: str, rows: list[Row], note: str = "") -> Row:
    """Prints the medians, and returns them."""
    middle = (median(row[0] for row in rows), median(row[1] for row in rows), median(row[2] for row in rows))
    spread = f"{min(row[0] for row in rows):.2f} to {max(row[0] for row in rows):.2f}"
    print(f"{name:<28}{middle[0]:>9.2f}{spread:>18}{middle[1]:>10.2f}{middle[2]:>10.2f}  {note}", flush=True)
    return middle


def others(named: list[str], url: str, prompts: list[str], folder: Path) -> None:
    """Harnesses in environments of their own: the whole process alone can be timed."""
    programs: dict[str, Callable[[str], list[str]]] = {
        "lm-eval": lm_eval(url, prompts, folder),
        "inspect": inspect(url, prompts, folder),
    }
    for entry in named:
        name, _, place = entry.partition("=")
        quiet = {"OPENAI_API_KEY": "none", "LOOP_API_KEY": "none", "LOOP_BASE_URL": url, "HF_HUB_OFFLINE": "1"}
        try:
            seconds, cpu, _ = whole(programs[name](place), {**quiet, "HF_HOME": str(folder / "hf")}, folder)
        except SystemExit as error:
            print(f"{name:<28}failed: {str(error)[-600:]}")
            continue
        print(
            f"{name:<28}{'-':>9}{'-':>18}{cpu * 1000 / len(prompts):>10.2f}{seconds:>10.2f}  CPU with start-up",
            flush=True,
        )


def lm_eval(url: str, prompts: list[str], folder: Path) -> Callable[[str], list[str]]:
    """The command of lm-eval for these prompts."""
    task = folder / "lm_eval"
    task.mkdir()
    (task / "data.jsonl").write_text("".join(json.dumps({"prompt": text, "target": "4"}) + "\n" for text in prompts))
    (task / "speed.yaml").write_text(
        "task: dia_speed\ndataset_path: json\n"
        f"dataset_kwargs: {{data_files: {{test: {task / 'data.jsonl'}}}}}\n"
        "test_split: test\noutput_type: generate_until\ndoc_to_text: '{{prompt}}'\ndoc_to_target: '{{target}}'\n"
        "generation_kwargs: {until: []}\nmetric_list: [{metric: exact_match}]\n"
    )
    arguments = f"model=m,base_url={url}/chat/completions,num_concurrent={AT_ONCE},tokenized_requests=False"
    rest = [
        "--model",
        "local-chat-completions",
        "--model_args",
        arguments,
        "--tasks",
        "dia_speed",
        "--apply_chat_template",
    ]
    return lambda place: [f"{place}/bin/lm_eval", *rest, "--include_path", str(task)]


def inspect(url: str, prompts: list[str], folder: Path) -> Callable[[str], list[str]]:
    """The command of Inspect for these prompts."""
    task = folder / "inspect"
    task.mkdir()
    (task / "data.jsonl").write_text("".join(json.dumps({"input": text, "target": "4"}) + "\n" for text in prompts))
    (task / "speed.py").write_text(
        "from inspect_ai import Task, task\nfrom inspect_ai.dataset import json_dataset\n"
        "from inspect_ai.scorer import match\nfrom inspect_ai.solver import generate\n"
        f"data = json_dataset({str(task / 'data.jsonl')!r})\n"
        "@task\ndef speed():\n    return Task(dataset=data, solver=generate(), scorer=match())\n"
    )
    rest = ["eval", "inspect/speed.py", "--model", "openai-api/loop/m", "--log-dir", str(task / "logs")]
    return lambda place: [f"{place}/bin/inspect", *rest, "--display", "none", "--max-connections", str(AT_ONCE)]


def main() -> None:
    """Prints the table and what was aimed at."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--with", dest="beside", action="append", default=[], metavar="NAME=VENV")
    given = parser.parse_args()
    os.environ["OPENAI_API_KEY"] = "none-at-all"
    ideal = given.questions / AT_ONCE * DELAY
    with tempfile.TemporaryDirectory() as made, server(DELAY) as url:
        folder = Path(made)
        bundle = bundle_of(folder / "bundles", given.questions)
        records = map(json.loads, (bundle / "questions.jsonl").read_text(encoding="utf-8").splitlines())
        prompts = [record["messages"][0]["content"] for record in records if "messages" in record]
        (folder / "prompts.json").write_text(json.dumps(prompts))
        print(f"{len(prompts)} questions, {AT_ONCE} at once, {DELAY * 1000:.0f} ms each: ideal {ideal:.2f} s")
        print(f"{'client':<28}{'requests':>9}{'least to most':>18}{'CPU ms':>10}{'whole s':>10}")
        numbers = iter(range(1_000_000))

        def arguments(through: str) -> list[str]:
            return [url, str(folder / "prompts.json"), through, str(bundle), str(folder / f"{next(numbers)}.run")]

        def one(program: str, through: str = "") -> Row:
            return measured(program, arguments(through), len(prompts))

        def rows(program: str, through: str = "") -> list[Row]:
            return [one(program, through) for _ in range(given.repeat)]

        show("aiohttp alone", rows(AIOHTTP), "keeps nothing")
        ours = show("dia, direct", rows(DIA, "auto"), "every reply durable")
        command = [
            sys.executable,
            "-m",
            "dia_compiler.commands.cli",
            "run",
            str(bundle),
            "--model",
            "openai/m",
            "--base-url",
            url,
        ]
        command += ["--concurrency", str(AT_ONCE), "-q"]
        ends = [whole([*command, "-o", str(folder / f"{next(numbers)}.run")])[:2] for _ in range(given.repeat)]
        seconds = median(end[0] for end in ends)
        note = f"{median(end[1] for end in ends):.2f} s of CPU"
        print(f"{'dia run, the command':<28}{'-':>9}{'-':>18}{'-':>10}{seconds:>10.2f}  {note}", flush=True)
        print(f"aim: {ours[0]:.2f} s below {2 * ideal:.2f}, {ours[1]:.2f} ms below 2, {seconds:.2f} s below 5")
        if find_spec("litellm") is not None:
            # One after the other, so that what else the machine does meets both alike.
            pairs = [(one(LITELLM), one(DIA, "litellm")) for _ in range(given.repeat)]
            show("litellm alone", [alone for alone, _ in pairs])
            show("dia through litellm", [through for _, through in pairs])
            ratios = [through[0] / alone[0] for alone, through in pairs]
            spent = median(through[1] / alone[1] for alone, through in pairs)
            spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
            print(f"aim: {median(ratios):.3f} times litellm alone ({spread}), {spent:.3f} times its CPU, below 1.15")
        others(given.beside, url, prompts, folder)


if __name__ == "__main__":
    main()
