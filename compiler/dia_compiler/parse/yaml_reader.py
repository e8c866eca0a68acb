"""Spec files to nodes that keep file, line and column: the reader of YAML that the runtime has too."""

from __future__ import annotations

from dia_language.yaml_nodes import (
    DEPTH,
    FILE_BYTES,
    NODES,
    Mapping,
    Node,
    Scalar,
    Sequence,
    begin_with,
    core_value,
    data,
    pairs,
    parse,
    read,
    read_bytes,
    read_text,
    size_of,
)

__all__ = [
    "DEPTH",
    "FILE_BYTES",
    "NODES",
    "Mapping",
    "Node",
    "Scalar",
    "Sequence",
    "begin_with",
    "core_value",
    "data",
    "pairs",
    "parse",
    "read",
    "read_bytes",
    "read_text",
    "size_of",
]
