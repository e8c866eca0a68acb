"""What `dia show` prints about a run: its respondents, or their replies to one question."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, counted, did_you_mean, visible

from dia_runtime.grading.flags import FLAGS, incomplete_headings
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.report.screens import answer_text
from dia_runtime.store.endings import reply_flags
from dia_runtime.store.error_causes import CauseCounter, cause_lines, versions_text
from dia_runtime.store.schema import StoredReply, is_sqlite
from dia_runtime.store.store import OF_SESSIONS, Store, read_store
from dia_runtime.store.tool_transcripts import (
    readable_tool_transcript,
    tool_transcript_or_none,
    tool_transcript_text,
    transcript_from_record,
)
from dia_runtime.store.transcripts import readable_transcript, transcript_flags

NEAR = 20_000


def is_run(path: Path) -> bool:
    """Return whether the file looks like a run; a bundle is a folder."""
    try:
        return is_sqlite(path)
    except OSError:
        return False


def run_facts(path: Path, id: str | None, chain: str) -> dict[str, Any]:
    """Return what `dia show --json` prints for a run, with verdicts by the chain of extraction.

    Raises DiaError (exit 2) for an unknown question.
    """
    with read_store(path) as store:
        facts: dict[str, Any] = {"run": str(path), "bundle": store.facts.get("bundle_id")}
        facts |= {key: store.facts.get(key) for key in ("benchmark", "version")}
        if id is None:
            return facts | {
                "questions": store.size,
                "attempts": store.attempts(),
                "respondents": [
                    {
                        "name": entry.name,
                        "model": entry.model,
                        "settings": store.parsed(entry.settings),
                        **_replies_by_outcome(store, entry.id),
                        "request_changes": store.request_changes(entry.id),
                        "model_versions": store.model_versions(entry.id),
                        "left_out": [
                            {"why": why, "questions": number}
                            for why, number in store.left_out_reasons(entry.id).items()
                        ],
                    }
                    for entry in store.respondents()
                ],
            }
        question, position = _find_question(store, id)
        left_out = [
            {"respondent": entry.name, "why": why}
            for entry in store.respondents()
            if (why := store.reason_left_out(entry.id, position)) is not None
        ]
        records = _replies(store, question, position)
        _add_verdicts(store, position, records, chain)
        listed = {entry["respondent"] for entry in (*records, *left_out)}
        missing = [
            {"respondent": entry.name, "why": _why_missing(entry.model, facts["bundle"])}
            for entry in store.respondents()
            if entry.name not in listed
        ]
        return facts | {"question": question, "replies": records, "left_out": left_out, "missing": missing}


def _why_missing(model: str, bundle: str | None) -> str:
    """Return that there is no reply, and how to add one."""
    kind, _, folder = model.partition(":")
    if kind == "manual":
        return (
            f"no reply yet: save it in the folder `{folder}` as its README.md says, then repeat the `dia run` command"
        )
    if bundle is None:
        return "no reply"  # in the imported table
    return "no reply yet: `dia run` with the same bundle, model and settings asks for it"


def _replies_by_outcome(store: Store, respondent: int) -> dict[str, Any]:
    """Return how many replies a respondent has and lacks, flags of those that are no full answers, causes of errors."""
    flags: Counter[str] = Counter()
    examples: dict[str, str] = {}
    causes, replies = CauseCounter(), 0
    for question, reply in store.replies(respondent, None):
        if reply.error is not None:
            causes.add(reply.error)
        else:
            replies += 1
            is_session = question.format.startswith(OF_SESSIONS)
            names = transcript_flags(reply.text) if is_session else reply_flags(reply.text, None, reply.finish_reason)
            flags.update(names)
            for name in names:
                examples.setdefault(name, question.id)
    left_out = sum(store.left_out_reasons(respondent).values())
    errors = sum(causes.counts.values())
    return {
        "replies": replies,
        "errors": errors,
        "missing": max(0, (store.size - left_out) * max(1, store.attempts()) - replies - errors),
        "flags": dict(sorted(flags.items())),
        "flag_examples": dict(sorted(examples.items())),
        "causes": causes.causes(),
    }


def _find_question(store: Store, id: str) -> tuple[str, int]:
    """Return the full id and the position of a question."""
    question = store.find_question(id)
    if question is not None:
        return question
    ids = [question.id for question in store.questions()] if store.size <= NEAR else []
    message = visible(f"`{store.path}` has no question `{id}`")
    raise DiaError(
        Diagnostic("E809", message, None, did_you_mean(id, ids) or "check the id; `dia questions RUN` lists questions")
    )


def _replies(store: Store, question: str, position: int) -> list[dict[str, Any]]:
    """Return every respondent's replies to the question; for an unfinished conversation, the turns so far."""
    records = []
    for entry in store.respondents():
        attempts = {number for (number,) in store.rows(
            "SELECT attempt FROM reply WHERE respondent = ? AND question = ?", entry.id, position)}  # fmt: skip
        attempts |= store.attempts_with_turns(entry.id, position)
        for attempt in sorted(attempts):
            reply = store.reply(entry.id, question, attempt) or {}
            turns = store.turns(entry.id, attempt, str(position))
            if reply.get("text") is not None:  # the reply has their texts
                turns = [turn for turn in turns if turn.tool_transcript is not None]
            fields = {name: value for name, value in reply.items() if name not in ("question", "attempt")}
            fields |= _tools(reply.get("tool_transcript"))
            records.append(
                {"respondent": entry.name, "attempt": attempt, **fields, "turns": [_turn(turn) for turn in turns]}
            )
    return records


def _add_verdicts(store: Store, position: int, records: list[dict[str, Any]], chain: str) -> None:
    """Grade the replies by the chain, unless the run contains no answers or they cannot be used."""
    from dia_runtime.grading.judge import Judge, Rules

    if not store.has_answers:
        return
    question = next(entry for entry in store.questions() if entry.position == position)
    judge = Judge(store, Rules(chain))
    try:
        for record in records:
            text, error, finish_reason = record.get("text"), record.get("error"), record.get("finish_reason")
            if error is None and (text is not None or finish_reason is not None):
                judged = judge.judged_one(question, StoredReply(text, error, finish_reason, record["attempt"]))
                record |= {
                    "verdict": str(judged.mark.verdict),
                    "flags": sorted(judged.flags),
                    "extracted": judged.extracted,
                    "correct_answer": judged.truth if judged.sessions is None else None,
                }
                if judged.sessions is not None:
                    record["unread_replies"] = list(judged.sessions.outcome.unread)
    except DiaError:
        return  # the replies are shown without verdicts; `dia score` reports the damaged record
    finally:
        judge.close()


def _turn(turn: Any) -> dict[str, Any]:
    fields = {name: value for name, value in asdict(turn).items() if name not in ("question", "scope")}
    return fields | _tools(turn.tool_transcript)


def _tools(text: str | None) -> dict[str, Any]:
    """Return the transcript of calls of tools as an object; null if there is none or it cannot be read."""
    transcript = tool_transcript_or_none(text)
    return {"tool_transcript": None if transcript is None else json.loads(tool_transcript_text(transcript))}


def run_text(facts: Mapping[str, Any]) -> str:
    if "replies" not in facts:
        lines = [line for entry in facts["respondents"] for line in _respondent_lines(entry)]
        name = " ".join(str(facts[key]) for key in ("benchmark", "version") if facts[key] is not None)
        first = f"{facts['run']}: {counted(facts['questions'], 'question')} of {visible(name or 'a bundle')}"
        bundle = f"  bundle {facts['bundle']}"
        if facts["bundle"] is None:
            first = f"{facts['run']}: {counted(facts['questions'], 'question')}"
            bundle = f"  imported without a bundle, with the benchmark name `{visible(name)}`"
        return "\n".join([first, bundle, *lines])
    left_out = [f"[{entry['respondent']}]\nnot asked: {entry['why']}" for entry in facts["left_out"]]
    missing = [f"[{entry['respondent']}]\n{visible(entry['why'])}" for entry in facts["missing"]]
    return "\n\n".join([facts["question"], *(_reply_text(reply) for reply in facts["replies"]), *left_out, *missing])


def _respondent_lines(entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield the name of a respondent with its replies, then which are no full answers and why others are missing."""
    examples = entry["flag_examples"]
    counts = [
        f"{number:,} {FLAGS[name].heading} (such as {visible(examples[name])})"
        for name, number in entry["flags"].items()
    ]
    expected = entry["replies"] + entry["errors"] + entry["missing"]
    replies = counted(entry["replies"], "reply", "replies")
    if expected > entry["replies"]:
        replies = f"{entry['replies']:,} of {counted(expected, 'reply', 'replies')}"
    yield f"  {entry['name']}: {', '.join([replies, *counts])}"
    if entry["missing"]:
        yield f"    {entry['missing']:,} not requested"
    for reason in entry["left_out"]:
        yield f"    {counted(reason['questions'], 'question')} not asked: {reason['why']}"
    for change in entry["request_changes"]:
        yield f"    {change['change']}: {counted(change['replies'], 'request')}"
    if len(entry["model_versions"]) > 1:
        yield f"    replies of several models, as the provider names them: {versions_text(entry['model_versions'])}"
    yield from (f"    {line}" for line in cause_lines(entry["causes"]))


def _tool_lines(reply: Mapping[str, Any]) -> list[str]:
    """Return the calls of tools before a reply, and the heading of the reply itself."""
    record = reply.get("tool_transcript")
    if record is None:
        return []
    return [readable_tool_transcript(transcript_from_record(record)), "[reply]"]


def _reply_text(reply: Mapping[str, Any]) -> str:
    attempt = "" if reply["attempt"] == 1 else f", attempt {reply['attempt']}"
    lines = [f"[{reply['respondent']}{attempt}]"]
    if reply.get("request_changes") is not None:
        lines.append(f"({reply['request_changes']})")
    lines += _tool_lines(reply)
    if reply.get("text") is not None:
        lines.append(readable_transcript(reply["text"]))
    elif reply.get("error") is not None or reply.get("finish_reason") is not None:
        lines.append(f"no reply: {reply.get('error') or reply['finish_reason']}")
    for turn in reply["turns"]:
        lines += _tool_lines(turn)
        text = f"error: {turn['error']}" if turn["text"] is None else turn["text"]
        lines.append(f"({turn['session']}, turn {turn['turn'] + 1}) {text}")
    if "verdict" in reply:
        unread = [f"`{name}` could not be read" for name in reply.get("unread_replies", ())]
        lines.append(f"[{'; '.join([_verdict_text(reply), *unread, *incomplete_headings(reply['flags'])])}]")
    return "\n".join(lines)


def _verdict_text(reply: Mapping[str, Any]) -> str:
    """Return the verdict; for other verdicts than correct, also the answer that was found and the correct one."""
    if reply["correct_answer"] is None or reply["verdict"] == Verdict.CORRECT:
        return str(reply["verdict"])
    answer = "no answer found" if reply["extracted"] is None else f"answer {answer_text(reply['extracted'])}"
    return f"{reply['verdict']}: {answer}; correct answer {reply['correct_answer']}"
