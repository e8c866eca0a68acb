from __future__ import annotations

import hashlib

import pytest
from dia_runtime.bundle.merkle import leaf_hash, root
from hypothesis import given
from hypothesis import strategies as st

# The reference leaves and roots of Certificate Transparency's own tests (merkle_tree_test.cc).
LEAVES = [
    *(b"", b"\x00", b"\x10", b"\x20\x21", b"\x30\x31"),
    *(bytes(range(first, last)) for first, last in ((0x40, 0x44), (0x50, 0x58), (0x60, 0x70))),
]
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


@pytest.mark.parametrize("size", range(9))
def test_published_roots(size: int) -> None:
    assert root(map(leaf_hash, LEAVES[:size])) == ROOTS[size]


def naive(leaves: list[bytes]) -> bytes:
    """RFC 6962, section 2.1, as it is written."""
    if not leaves:
        return hashlib.sha256().digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return hashlib.sha256(b"\x01" + naive(leaves[:split]) + naive(leaves[split:])).digest()


@given(st.lists(st.binary(max_size=3), max_size=70))
def test_one_pass_equals_the_recursion(leaves: list[bytes]) -> None:
    assert root(map(leaf_hash, leaves)) == naive(leaves).hex()
