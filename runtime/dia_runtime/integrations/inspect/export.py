"""A task file for Inspect (UK AI Security Institute), with the questions and their assets.

The file makes its task from the questions in its folder; dataset, scorer and clustered errors come from
dia_runtime.integrations.inspect.task, which `inspect eval dia/...` uses as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from dia_runtime.bundle.open import Bundle
from dia_runtime.integrations.exporting.base import Exporter, Files, assets_of, json_line
from dia_runtime.integrations.exporting.question_rows import ASSETS, ROWS, SESSIONS, TURNS, rows, task_module, task_name

HOLDS = frozenset({ASSETS, SESSIONS, TURNS})
IMPORTS = """from inspect_ai import Task, task

"""
TASK = '''
@task
def {name}(tools: bool | str | list[str] = False, sandbox: str = "docker", prefill: bool = False) -> Task:
    """The questions in this folder; `tools` are those that the model may use in a sandbox: True, or python,bash,files.

    `prefill` says that models continue a reply that is begun for them, as some sessions need it.
    """
    return task_beside(__file__, tools, sandbox, prefill)
'''


class Inspect(Exporter):
    """A folder with a task file."""

    summary = "Inspect: a task file with dataset and scorer"

    def files(self, bundle: Bundle) -> Files:
        """Yield the task, the questions, and their assets."""
        name = task_name(bundle)
        module = task_module(f"a task of {name}", "for_inspect", ("task_beside",), IMPORTS, TASK.format(name=name))
        yield f"{name}.py", iter([module])
        yield ROWS, _lines(bundle)
        yield from assets_of(bundle)


def _lines(bundle: Bundle) -> Iterator[bytes]:
    return (json_line(row) for row in rows(bundle, "inspect", HOLDS))
