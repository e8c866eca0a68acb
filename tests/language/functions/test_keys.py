"""Derived keys, stored passwords and RSA against published vectors, hashlib, crypt, cryptography and openssl."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from dia_language.numbers.values import Record
from helpers.examples import examples
from helpers.library_calls import call, code
from hypothesis import given, settings
from hypothesis import strategies as st

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
P, Q = 2**607 - 1, 2**521 - 1  # Mersenne primes, OEIS A000668
HASHES = {"sha1": hashes.SHA1(), "sha256": hashes.SHA256(), "sha512": hashes.SHA512()}


def key() -> Record:
    made: Record = call("rsa_key", P, Q)
    return made


def private() -> rsa.RSAPrivateKey:
    held = key()
    numbers = rsa.RSAPrivateNumbers(
        P, Q, held["d"], held["d"] % (P - 1), held["d"] % (Q - 1), pow(Q, -1, P), rsa.RSAPublicNumbers(65537, P * Q)
    )
    return numbers.private_key()


def test_pbkdf2_gives_the_vectors_of_rfc_6070() -> None:
    told = {1: "0c60c80f961f0e71f3a9b524af6012062fe037a6", 4096: "4b007901b765489abead49d926f721d065a429c1"}
    for iterations, shown in told.items():
        assert call("pbkdf2", b"password", b"salt", iterations, 20, "sha1").hex() == shown
    long = b"passwordPASSWORDpassword", b"saltSALTsaltSALTsaltSALTsaltSALTsalt"
    assert call("pbkdf2", *long, 4096, 25, "sha1").hex() == "3d2eec4fe41c849b80c8d83662c0e44a8b291a964cf2f07038"
    assert call("pbkdf2", b"a", b"b", 3, 70, "sha512") == hashlib.pbkdf2_hmac("sha512", b"a", b"b", 3, 70)


def test_hkdf_gives_the_vectors_of_rfc_5869() -> None:
    # appendix A.1 and A.3
    made = call("hkdf", b"\x0b" * 22, bytes(range(13)), bytes(range(0xF0, 0xFA)), 42)
    assert made.hex() == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
    made = call("hkdf", b"\x0b" * 22, b"", b"", 42)
    assert made.hex() == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
    for name, kind in HASHES.items():
        told = HKDF(kind, 100, b"salt", b"info").derive(b"secret")
        assert call("hkdf", b"secret", b"salt", b"info", 100, name) == told


def test_scrypt_gives_a_vector_of_rfc_7914() -> None:
    made = call("scrypt", b"password", b"NaCl", 1024, 8, 16, 64)  # section 12
    assert made.hex()[:32] == "fdbabe1c9d3472007856e7190d01e9fe"


def test_costs_are_bounded() -> None:
    assert code("pbkdf2", b"a", b"b", 3_000_000, 20) == code("pbkdf2", b"a", b"b", 1, 100_000) == "E502"
    assert code("pbkdf2", b"a", b"b", 0, 20) == code("pbkdf2", b"a", b"b", 1, 20, "crc32") == "E501"
    assert code("scrypt", b"a", b"b", 2**20, 8, 1, 32) == code("scrypt", b"a", b"b", 2**15, 8, 5, 32) == "E502"
    assert code("scrypt", b"a", b"b", 1000, 8, 1, 32) == code("scrypt", b"a", b"b", 16, 0, 1, 32) == "E501"
    assert code("hkdf", b"a", b"b", b"", 255 * 32 + 1) == "E502"
    assert code("shadow_hash", "a", "b", "sha512", 10**9) == code("shadow_hash", "a" * 300, "b") == "E502"
    assert code("shadow_hash", "a", "") == code("shadow_hash", "a", "b" * 17) == code("shadow_hash", "a", "$") == "E501"
    assert code("shadow_hash", "a", "b" * 9, "md5") == code("shadow_hash", "a", "b", "des") == "E501"


# U. Drepper, "Unix crypt using SHA-256 and SHA-512", version 0.6, test vectors
DREPPER = [
    ("saltstring", "sha256", 5000, "$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"),
    (
        "saltstringsaltst", "sha256", 10_000,
        "$5$rounds=10000$saltstringsaltst$3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA",
    ),
    (
        "saltstring", "sha512", 5000,
        "$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1",
    ),
]  # fmt: skip
PASSWORDS = ["", "a", "password", "péssword", "x" * 15, "x" * 16, "x" * 33, "x" * 65, "longer than any block " * 6]


@pytest.mark.parametrize(("salt", "scheme", "rounds", "told"), DREPPER)
def test_shadow_hashes_are_those_of_drepper(salt: str, scheme: str, rounds: int, told: str) -> None:
    assert call("shadow_hash", "Hello world!", salt, scheme, rounds) == told


@needs_openssl
@pytest.mark.parametrize(("scheme", "option"), [("md5", "-1"), ("sha256", "-5"), ("sha512", "-6")])
def test_shadow_hashes_are_those_of_openssl(scheme: str, option: str) -> None:
    for password in ["a", "password", "x" * 15, "x" * 64, "x" * 65, "péssword"]:
        command = ["openssl", "passwd", option, "-salt", "./Az09", password]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        assert call("shadow_hash", password, "./Az09", scheme) == told


@pytest.mark.filterwarnings("ignore:'crypt' is deprecated")
def test_shadow_hashes_are_those_of_the_system() -> None:
    crypt = pytest.importorskip("crypt")
    for password in PASSWORDS:
        for scheme, mark in (("md5", "$1$"), ("sha256", "$5$"), ("sha512", "$6$")):
            assert call("shadow_hash", password, "saltsalt", scheme) == crypt.crypt(password, f"{mark}saltsalt")
    for rounds in (1000, 1001, 7777):
        told = crypt.crypt("password", f"$6$rounds={rounds}$saltstringsaltst")
        assert call("shadow_hash", "password", "saltstringsaltst", "sha512", rounds) == told


def test_ntlm_and_one_time_codes_give_published_values() -> None:
    assert call("ntlm_hash", "").hex() == "31d6cfe0d16ae931b73c59d7e0c089c0"
    assert call("ntlm_hash", "Password").hex() == "a4f49c406510bdcab6824ee7c30fd852"  # MS-NLMP, section 4.2.2.1.1
    secret = b"12345678901234567890"
    told = ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"]
    assert [call("hotp", secret, counter) for counter in range(10)] == told  # RFC 4226, appendix D
    sha256 = b"12345678901234567890123456789012"
    assert call("hotp", sha256, 1111111109 // 30, 8, "sha256") == "68084774"  # RFC 6238, appendix B
    assert code("hotp", secret, -1) == code("hotp", secret, 1, 5) == "E501"


@settings(max_examples=examples(15))
@given(st.binary(max_size=50), st.binary(min_size=20, max_size=20))
def test_oaep_is_undone_by_another_library(message: bytes, seed: bytes) -> None:
    oaep = padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA1(), None)
    sealed = call("rsa_oaep_encrypt", key(), message, seed)
    assert private().decrypt(sealed, oaep) == message
    assert call("rsa_oaep_decrypt", key(), sealed) == message
    assert call("rsa_oaep_decrypt", key(), private().public_key().encrypt(message, oaep)) == message


@pytest.mark.parametrize("name", ["sha1", "sha256"])
def test_oaep_is_the_one_written_out(name: str) -> None:
    """RFC 8017, section 7.1.1, by hand: the seed decides every byte."""
    size, width = hashlib.new(name).digest_size, -(-(P * Q).bit_length() // 8)
    seed = bytes(range(size))

    def mask(data: bytes, length: int) -> bytes:
        blocks = (hashlib.new(name, data + count.to_bytes(4)).digest() for count in range(length))
        return b"".join(blocks)[:length]

    def mixed(one: bytes, other: bytes) -> bytes:
        return bytes(a ^ b for a, b in zip(one, other, strict=True))

    block = hashlib.new(name).digest() + bytes(width - 2 * size - 5) + b"\1abc"
    hidden = mixed(block, mask(seed, len(block)))
    padded = b"\0" + mixed(seed, mask(hidden, size)) + hidden
    told = pow(int.from_bytes(padded), 65537, P * Q).to_bytes(width)
    assert call("rsa_oaep_encrypt", key(), b"abc", seed, name) == told


@pytest.mark.parametrize("name", HASHES)
def test_signatures_are_those_of_another_library(name: str) -> None:
    told = private().sign(b"message", padding.PKCS1v15(), HASHES[name])
    assert call("rsa_sign", key(), b"message", name) == told
    assert call("rsa_verify", key(), b"message", told, name) is True
    assert (
        call("rsa_verify", key(), b"massage", told, name) is call("rsa_verify", key(), b"message", b"", name) is False
    )
    with pytest.raises(InvalidSignature):
        private().public_key().verify(call("rsa_sign", key(), b"a", name), b"b", padding.PKCS1v15(), HASHES[name])


def test_pem_is_read_by_another_library_and_the_other_way_round() -> None:
    assert key()["d"] == private().private_numbers().d
    text = call("rsa_private_pem", key())
    read: Any = serialization.load_pem_private_key(text.encode(), None)
    assert (read.private_numbers().p, read.private_numbers().d) == (P, key()["d"])
    public: Any = serialization.load_pem_public_key(call("rsa_public_pem", key()).encode())
    assert (public.public_numbers().n, public.public_numbers().e) == (P * Q, 65537)
    for form in (serialization.PrivateFormat.PKCS8, serialization.PrivateFormat.TraditionalOpenSSL):
        told = private().private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()
        assert call("rsa_from_pem", told) == key()
    assert call("rsa_from_pem", call("rsa_public_pem", key())) == {"n": P * Q, "e": 65537}


@needs_openssl
def test_openssl_finds_the_key_sound(tmp_path: Path) -> None:
    file = tmp_path / "key.pem"
    file.write_text(call("rsa_private_pem", key()))
    done = subprocess.run(["openssl", "rsa", "-in", str(file), "-check", "-noout"], capture_output=True, text=True)
    assert "RSA key ok" in done.stdout


def test_raw_rsa_is_a_power_and_its_root() -> None:
    small = call("rsa_key", 61, 53, 17)
    for number in range(0, 3233, 101):
        assert call("rsa_encrypt", small, number) == pow(number, 17, 3233)
        assert call("rsa_decrypt", small, call("rsa_encrypt", small, number)) == number


def test_keys_that_cannot_be_are_refused() -> None:
    assert code("rsa_key", 61, 61) == code("rsa_key", 2, 61) == code("rsa_key", 61, 53, 4) == "E501"
    assert code("rsa_key", 61, 53, 13) == "E504"  # 13 divides 52
    small = call("rsa_key", 61, 53, 17)
    assert code("rsa_encrypt", small, 3233) == code("rsa_encrypt", small, -1) == "E501"
    for name in ("rsa_sign", "rsa_private_pem", "rsa_public_pem"):
        assert code(name, small, *([b"a"] if name == "rsa_sign" else [])) == "E501"
    for change in ({"d": 4}, {"p": 1, "q": P * Q}, {"n": P}, {"p": -P, "q": -Q}):
        assert code("rsa_decrypt", Record({**key(), **change}), 5) == "E501"
        assert code("rsa_private_pem", Record({**key(), **change})) == "E501"
    assert code("rsa_oaep_encrypt", Record({**key(), "e": 2**5000 + 1}), b"", bytes(20)) == "E501"
    assert code("rsa_decrypt", Record(n=P * Q, e=65537), 5) == code("rsa_decrypt", Record(n=1), 5) == "E501"
    for message, seed in ((b"", bytes(19)), (bytes(200), bytes(20))):
        assert code("rsa_oaep_encrypt", key(), message, seed) == "E501"
    assert code("rsa_oaep_encrypt", key(), b"", bytes(20), "sha3") == "E501"
    assert code("rsa_oaep_decrypt", key(), bytes(141)) == "E501"
    for text in ("", "abc", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "é" * 9):
        assert code("rsa_from_pem", text) == "E501"
    assert code("rsa_from_pem", "a" * 20_000) == "E502"
