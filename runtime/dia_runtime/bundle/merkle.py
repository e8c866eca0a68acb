"""The Merkle tree hash of RFC 6962, section 2.1, computed in one pass."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


def leaf_hash(record: bytes) -> bytes:
    """Return the hash of a record as a leaf: SHA-256 of a zero byte and the record."""
    return hashlib.sha256(b"\x00" + record).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of two subtrees: SHA-256 of a one byte and both hashes."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class MerkleTree:
    """The root over all leaves added so far; stores one hash for each bit of their number.

    >>> MerkleTree().root()[:16]
    'e3b0c44298fc1c14'
    """

    __slots__ = ("_count", "_peaks")

    def __init__(self) -> None:
        self._count = 0
        self._peaks: list[bytes] = []  # complete subtrees, the largest first

    def add(self, leaf: bytes) -> None:
        """Add the hash of the next leaf."""
        waiting = self._count
        self._count += 1
        while waiting & 1:  # as in binary counting, two subtrees of the same size become one
            leaf = node_hash(self._peaks.pop(), leaf)
            waiting >>= 1
        self._peaks.append(leaf)

    def root(self) -> str:
        """Return the tree's root in hex."""
        if not self._peaks:
            return hashlib.sha256().hexdigest()
        node = self._peaks[-1]
        for peak in reversed(self._peaks[:-1]):
            node = node_hash(peak, node)
        return node.hex()


def root(leaves: Iterable[bytes]) -> str:
    """Return the root, in hex, over the hashes of leaves."""
    tree = MerkleTree()
    for leaf in leaves:
        tree.add(leaf)
    return tree.root()
