"""The filter of system calls for programs: it forbids calls that use resources which no other limit counts.

Shared memory of System V, its message queues, kernel keys and similar calls use memory that belongs to no process.
"""

from __future__ import annotations

import platform
import struct

# Processor -> its number in a filter (AUDIT_ARCH_*), and those of the calls: shmget, semget, msgget, add_key,
# request_key, keyctl, ptrace, bpf, perf_event_open, userfaultfd, io_uring_setup, unshare, setns
REFUSED: dict[str, tuple[int, tuple[int, ...]]] = {
    "x86_64": (0xC000003E, (29, 64, 68, 248, 249, 250, 101, 321, 298, 323, 425, 272, 308)),
    "aarch64": (0xC00000B7, (194, 190, 186, 217, 218, 219, 117, 280, 241, 282, 425, 97, 268)),
}
LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
NUMBER, PROCESSOR = 0, 4  # positions in the data that a filter sees
ALLOW, KILL, NOT_PERMITTED = 0x7FFF0000, 0x80000000, 0x00050001
OTHER_TABLE = 0x40000000  # from here on, numbers are calls of x32


def call_filter() -> bytes | None:
    """Return the filter for this machine's processor, None if its calls are not known here."""
    entry = REFUSED.get(platform.machine())
    if entry is None:
        return None
    processor, calls = entry
    steps = [
        (LOAD, 0, 0, PROCESSOR),
        (EQUAL, 1, 0, processor),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
        (AT_LEAST, len(calls) + 1, 0, OTHER_TABLE),
        *((EQUAL, len(calls) - at, 0, call) for at, call in enumerate(calls)),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, NOT_PERMITTED),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
