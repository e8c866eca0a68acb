"""The flags of replies: facts about a reply in addition to its verdict.

Adding a flag is one entry of FLAGS: JSON, tables, plots, the report and the summary of `dia run` take it from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag: its name in JSON, heading and meaning.

    A flag with a `finding` says that a reply is no full answer, whatever the question was: `dia run` counts these as
    replies arrive, the first table of a score shows those that occur, with the finding and the `advice` below.
    """

    name: str
    heading: str
    meaning: str
    finding: str = ""
    advice: str = ""


FLAGS: Final[Mapping[str, Flag]] = {
    flag.name: flag
    for flag in (
        Flag(
            "over_context",
            "over context",
            "The prompt exceeds the model's context.",
            "Prompts that exceed the model's context",
            "Ask a model with a larger context, or leave out the templates with long prompts.",
        ),
        Flag(
            "refused",
            "refused",
            "A content filter or the model refused.",
            "Replies that a content filter or the model refused",
            "They count as wrong unless they contain an answer; `dia show RUN QUESTION` prints what came back.",
        ),
        Flag(
            "model_refused",
            "refused by model",
            "The model itself refused; the reply is also counted as refused.",
            "Of these, refused by the model itself",
        ),
        Flag(
            "truncated",
            "truncated",
            "The reply was cut off at its token limit.",
            "Replies cut off at the token limit",
            "`dia show RUN` names one, and `dia show RUN QUESTION` prints it. A reply that repeats itself never ends; "
            "others have room to finish in a new run with a larger `--max-tokens`.",
        ),
        Flag(
            "empty",
            "empty",
            "The reply has no text.",
            "Empty replies",
            "A larger `--max-tokens` helps if the model used up its tokens for reasoning that is not shown.",
        ),
        Flag(
            "only_reasoning",
            "only reasoning",
            "The reply has reasoning but no answer after it.",
            "Replies with reasoning but no answer",
            "A larger `--max-tokens` or a lower `--reasoning-effort` leaves room for the answer.",
        ),
        Flag(
            "only_tool_calls",
            "only tool calls",
            "The reply ends with a call of a tool instead of an answer.",
            "Replies that call a tool instead of answering",
            "If the run had `--tools`, a larger `--tool-calls` allows more calls. If not, the model has no tools: ask "
            "it again, or give it some.",
        ),
        Flag(
            "unknown_ending",
            "unknown ending",
            "The provider gave a reason for the end of the reply that dia does not know.",
            "Replies that ended for a reason that dia does not know",
            "They may be incomplete: `dia show RUN QUESTION --json` prints the reason as `finish_reason`.",
        ),
        Flag(
            "no_judgement",
            "no judgement",
            "The reply of another role on which the verdict depends, such as a judge, is missing or could not be read. "
            "The question counts as unparsed, although the model may be right.",
            "Questions that could not be graded, because the reply of another role, such as a judge, is missing or "
            "unreadable",
            "They count as wrong, although the model may be right. `dia show RUN QUESTION` prints what the other role "
            "wrote; with `--chain lenient`, more such replies can be read.",
        ),
        Flag(
            "skip_malformed",
            "malformed skip",
            "The abstention token is in the reply, but not in the required format.",
        ),
        Flag(
            "lost_to_format",
            "lost to format",
            "Only with the chain `strict`: the reply is unparsed, but a more tolerant chain finds the right answer.",
        ),
        Flag(
            "undecided",
            "not proven",
            "An expression could not be proven equal to the correct answer or different from it; it counts as wrong.",
        ),
    )
}
NO_CALLS_ADVICE: Final = (
    "Either the model had no use for its tools, or its server drops them: some accept `tools` in a request and never "
    "show them to the model."
)
REPLY_FLAGS = tuple(name for name, flag in FLAGS.items() if flag.finding)


def incomplete_headings(names: Iterable[str]) -> list[str]:
    """Return the headings of those flags that say that a reply is no full answer.

    >>> incomplete_headings(["lost_to_format", "truncated"])
    ['truncated']
    """
    return [FLAGS[name].heading for name in names if FLAGS[name].finding]
