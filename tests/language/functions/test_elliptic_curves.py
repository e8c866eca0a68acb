"""Elliptic curves and signatures on them against counting by hand, cryptography, pycryptodome and the RFCs."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from Crypto.PublicKey import ECC
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import (
    Prehashed,
    decode_dss_signature,
    encode_dss_signature,
)
from dia_language.budgets import reset
from dia_language.diagnostics import LanguageError
from dia_language.functions import library
from dia_language.numbers.values import Record
from helpers.examples import examples
from helpers.library_calls import call, code
from hypothesis import given, settings
from hypothesis import strategies as st

CURVES: dict[str, ec.EllipticCurve] = {
    "P-224": ec.SECP224R1(), "P-256": ec.SECP256R1(), "P-384": ec.SECP384R1(), "P-521": ec.SECP521R1(),
    "secp256k1": ec.SECP256K1(),
}  # fmt: skip
SMALL = [(2, 3, 97), (0, 1, 5), (-1, 3, 101), (1, 0, 7), (0, 7, 43)]


def chord(a: int, p: int, one: Any, other: Any) -> Any:
    """The sum of two points by the rule of chord and tangent, with inverses found by search."""
    if one is None or other is None:
        return other if one is None else one
    (x1, y1), (x2, y2) = one, other
    if x1 == x2 and (y1 + y2) % p == 0:
        return None
    top, bottom = (3 * x1 * x1 + a, 2 * y1) if one == other else (y2 - y1, x2 - x1)
    slope = next(slope for slope in range(p) if (slope * bottom - top) % p == 0)
    x = (slope * slope - x1 - x2) % p
    return x, (slope * (x1 - x) - y1) % p


def pair(point: Any) -> Any:
    return None if point is None else (point["x"], point["y"])


@pytest.mark.parametrize(("a", "b", "p"), SMALL)
def test_small_curves_are_those_counted_by_hand(a: int, b: int, p: int) -> None:
    curve = call("curve", a, b, p)
    assert curve == {"a": a % p, "b": b, "p": p}
    told = [(x, y) for x in range(p) for y in range(p) if (y * y - x**3 - a * x - b) % p == 0]
    points = call("curve_points", curve)
    assert [pair(point) for point in points] == told
    assert call("curve_order", curve) == len(told) + 1
    for one in [None, *points[:7]]:
        total, order = None, call("point_order", curve, one)
        for k in range(1, order + 1):
            total = chord(a, p, total, pair(one))
            assert (total is None) == (k == order)
            assert pair(call("point_multiply", curve, k, one)) == total
            assert pair(call("point_multiply", curve, -k, call("point_negate", curve, one))) == total
        for other in [None, *points]:
            assert pair(call("point_add", curve, one, other)) == chord(a, p, pair(one), pair(other))


def test_points_are_on_the_curve_or_not() -> None:
    curve = call("curve", 2, 3, 97)
    on = {(x, y) for x in range(-1, 99) for y in range(-1, 99) if call("is_on_curve", curve, Record(x=x, y=y))}
    assert on == {pair(point) for point in call("curve_points", curve)}
    assert call("is_on_curve", curve, None) is True
    for name, arguments in (("point_add", (None,)), ("point_negate", ()), ("point_order", ())):
        assert code(name, curve, Record(x=3, y=7), *arguments) == "E501"
    assert code("point_multiply", curve, 2, Record(x=3, y=103)) == "E501"


@pytest.mark.parametrize("name", CURVES)
def test_named_curves_are_those_of_two_libraries(name: str) -> None:
    curve = call("named_curve", name)
    base, n = call("base_point", curve), curve["n"]
    assert call("is_on_curve", curve, base) and call("curve_order", curve) == n
    for k in (1, 2, 3, 2**200 + 12345, n - 2, n - 1):
        told = ec.derive_private_key(k, CURVES[name]).public_key().public_numbers()
        assert pair(call("point_multiply", curve, k, base)) == (told.x, told.y)
        if name != "secp256k1":
            point = ECC.construct(curve=name, d=k).pointQ
            assert (int(point.x), int(point.y)) == (told.x, told.y)
    assert call("point_multiply", curve, n, base) is None
    assert pair(call("point_multiply", curve, n + 2, base)) == pair(call("point_add", curve, base, base))


@settings(max_examples=examples(20))
@given(st.integers(-(2**256), 2**256), st.integers(-(2**256), 2**256))
def test_multiples_add_up(k: int, m: int) -> None:
    curve = call("named_curve", "P-256")
    base = call("base_point", curve)
    both = [call("point_multiply", curve, factor, base) for factor in (k, m)]
    assert call("point_add", curve, *both) == call("point_multiply", curve, k + m, base)


def test_curves_that_cannot_be_are_refused() -> None:
    assert code("curve", 0, 0, 97) == code("curve", -3, 2, 97) == code("curve", 1, 1, 91) == "E501"
    assert code("curve", 1, 1, 3) == code("curve", 1, 1, -7) == code("named_curve", "P-257") == "E501"
    assert code("curve", 1, 1, 2**1100) == "E502"
    assert code("base_point", call("curve", 2, 3, 97)) == "E501"
    own = Record(a=1, b=1, p=91)
    assert code("point_multiply", own, 2, Record(x=0, y=1)) == "E501"
    forged = Record({**call("named_curve", "P-256"), "p": 97})
    assert code("ecdsa_sign", forged, 5, bytes(32), 7) == "E501"
    large = call("curve", 1, 1, 2**127 - 1)
    assert code("curve_points", large) == code("curve_order", large) == "E502"
    assert code("point_multiply", large, 2**2050, None) == "E502"
    reset(1000)
    with pytest.raises(LanguageError, match="more than 1,000 steps"):
        library()["curve_order"].call(Record(a=1, b=1, p=99991))
    with pytest.raises(LanguageError, match="needs a curve"):
        call("curve_order", Record(a=1, b=1, p="7"))
    with pytest.raises(LanguageError, match="needs a point"):
        call("is_on_curve", large, Record(x=1))


# RFC 6979, appendix A.2.5: P-256 with SHA-256 and SHA-512, message "sample"
KEY = 0xC9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721
SAMPLE = {
    "sha256": (
        0xA6E3C57DD01ABE90086538398355DD4C3B17AA873382B0F24D6129493D8AAD60,
        0xEFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716,
        0xF7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8,
    ),
    "sha512": (
        0x5FA81C63109BADB88C1F367B47DA606DA28CAD69AA22C4FE6AD7DF73A7173AA5,
        0x8496A60B5E9B47C825488827E0495B0E3FA109EC4568FD3F8D1097678EB97F00,
        0x2362AB1ADBE2B8ADF9CB9EDAB740EA6049C028114F2460F96554F61FAE3302FE,
    ),
}


@pytest.mark.parametrize("name", SAMPLE)
def test_nonces_and_signatures_are_those_of_rfc_6979(name: str) -> None:
    curve, digest = call("named_curve", "P-256"), hashlib.new(name, b"sample").digest()
    nonce, r, s = SAMPLE[name]
    assert call("ecdsa_nonce", curve, KEY, digest, name) == nonce
    assert call("ecdsa_sign", curve, KEY, digest, nonce) == {"r": r, "s": s}


@pytest.mark.parametrize("name", CURVES)
def test_signatures_are_taken_by_another_library_and_the_other_way_round(name: str) -> None:
    curve, kind, key = call("named_curve", name), CURVES[name], 2**200 + 77
    private = ec.derive_private_key(key, kind)
    public, digest = call("point_multiply", curve, key, call("base_point", curve)), hashlib.sha256(b"abc").digest()
    made = call("ecdsa_sign", curve, key, digest, call("ecdsa_nonce", curve, key, digest))
    private.public_key().verify(
        encode_dss_signature(made["r"], made["s"]), digest, ec.ECDSA(Prehashed(hashes.SHA256()))
    )
    r, s = decode_dss_signature(private.sign(digest, ec.ECDSA(Prehashed(hashes.SHA256()))))
    assert call("ecdsa_verify", curve, public, digest, Record(r=r, s=s)) is True
    assert call("ecdsa_verify", curve, public, digest, Record(r=s, s=r)) is False
    assert call("ecdsa_verify", curve, public, digest, Record(r=0, s=s)) is False
    assert call("ecdsa_verify", curve, public, hashlib.sha256(b"abd").digest(), Record(r=r, s=s)) is False


def test_what_cannot_sign_is_refused() -> None:
    curve = call("named_curve", "P-256")
    for key, nonce in ((0, 7), (5, 0), (curve["n"], 7), (5, curve["n"])):
        assert code("ecdsa_sign", curve, key, bytes(32), nonce) == "E501"
    assert code("ecdsa_verify", curve, None, bytes(32), Record(r=1, s=1)) == "E501"
    assert code("ecdsa_verify", curve, call("base_point", curve), bytes(32), Record(r="1", s=1)) == "E501"
    assert code("ecdsa_nonce", curve, 5, bytes(32), "crc") == code("ecdsa_nonce", curve, 0, bytes(32)) == "E501"
    assert code("ecdsa_sign", call("curve", 2, 3, 97), 5, bytes(32), 7) == "E501"


def test_ed25519_gives_a_vector_of_rfc_8032() -> None:
    key = bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")  # section 7.1, test 2
    public = call("ed25519_public_key", key)
    assert public.hex() == "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
    signature = call("ed25519_sign", key, b"\x72")
    assert signature.hex() == (
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    )
    assert call("ed25519_verify", public, b"\x72", signature) is True
    assert call("ed25519_verify", public, b"\x73", signature) is call("ed25519_verify", public, b"r", b"") is False
    assert code("ed25519_public_key", b"") == code("ed25519_sign", b"", b"") == "E501"


def test_x25519_gives_the_vector_of_rfc_7748() -> None:
    alice = bytes.fromhex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a")  # section 6.1
    bob = bytes.fromhex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
    nine = bytes([9]) + bytes(31)
    assert call("x25519", alice, nine).hex() == "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"
    shared = call("x25519", alice, call("x25519", bob, nine))
    assert shared.hex() == "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"
    assert code("x25519", alice, bytes(32)) == code("x25519", alice, b"") == "E501"
