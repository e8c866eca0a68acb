"""What seals and signatures stand on gives the published results, and those of another program."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from dia_runtime.bundle.cipher import (
    decrypt_secret,
    derive_key,
    encrypt_secret,
    is_affordable,
    key_from_passphrase,
    passphrase_bytes,
)
from dia_runtime.bundle.key_file import ROUNDS, encrypted_pem
from dia_runtime.bundle.merkle import leaf_hash, root
from helpers.failures import refusal

OPENSSL = shutil.which("openssl")
needs_openssl = pytest.mark.skipif(OPENSSL is None, reason="openssl is not installed")

# RFC 8032, section 7.1, tests 1 and 2: secret, public, message, signature
SIGNED = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
        "d25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
        "387b2eaeb4302aeeb00d291612bb0c00",
    ),
]
# RFC 7914, section 12, of 64 bytes the first 32: passphrase, salt, n, r, p
STRETCHED = [
    ("password", b"NaCl", 1024, 8, 16, "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"),
    ("pleaseletmein", b"SodiumChloride", 16384, 8, 1, "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"),
]  # fmt: skip
# RFC 6962 trees over the eight test leaves of Certificate Transparency's reference code
LEAVES = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
ROOTS = {
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}


@pytest.mark.parametrize(("secret", "public", "message", "signature"), SIGNED)
def test_ed25519_of_rfc_8032(secret: str, public: str, message: str, signature: str) -> None:
    key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(secret))
    assert key.public_key().public_bytes_raw().hex() == public
    assert key.sign(bytes.fromhex(message)).hex() == signature


@pytest.mark.parametrize(("text", "salt", "n", "r", "p", "expected"), STRETCHED)
def test_scrypt_of_rfc_7914(text: str, salt: bytes, n: int, r: int, p: int, expected: str) -> None:
    assert key_from_passphrase(text, salt, {"n": n, "r": r, "p": p}).hex() == expected
    assert hashlib.scrypt(text.encode(), salt=salt, n=n, r=r, p=p, dklen=32).hex() == expected


def test_hkdf_of_rfc_5869() -> None:
    # Appendix A.3: neither salt nor info; of 42 bytes the first 32
    expected = "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
    assert derive_key(bytes([0x0B]) * 22, "").hex() == expected


def test_gcm_of_its_authors() -> None:
    # McGrew and Viega, The Galois/Counter Mode of Operation (GCM), test case 16, as in NIST's validation set
    key = bytes.fromhex("feffe9928665731c6d6a8f9467308308" * 2)
    nonce, beside = bytes.fromhex("cafebabefacedbaddecaf888"), bytes.fromhex("feedfacedeadbeef" * 2 + "abaddad2")
    clear = bytes.fromhex(
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de6"
        "57ba637b39"
    )
    held = bytes.fromhex(
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a"
        "0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b"
    )
    assert encrypt_secret(key, nonce, clear, beside) == held
    assert decrypt_secret(key, nonce, held, beside) == clear
    assert decrypt_secret(key, nonce, held, beside[:-1]) is None
    assert decrypt_secret(key, nonce, held[:-1] + bytes([held[-1] ^ 1]), beside) is None


@pytest.mark.parametrize(("count", "expected"), ROOTS.items())
def test_merkle_of_rfc_6962(count: int, expected: str) -> None:
    assert root(leaf_hash(bytes.fromhex(leaf)) for leaf in LEAVES[:count]) == expected


@needs_openssl
def test_openssl_derives_the_same_keys() -> None:
    def derive(name: str, *options: str) -> str:
        command = [str(OPENSSL), "kdf", "-keylen", "32", *(part for option in options for part in ("-kdfopt", option))]
        done = subprocess.run([*command, name], capture_output=True, text=True, check=True)
        return done.stdout.strip().replace(":", "").lower()

    found = derive("SCRYPT", "pass:password", "hexsalt:4e61436c", "n:1024", "r:8", "p:16")
    assert found == key_from_passphrase("password", b"NaCl", {"n": 1024, "r": 8, "p": 16}).hex()
    info = b"dia seal 1: salt of a/b/0"
    found = derive("HKDF", "digest:SHA256", f"hexkey:{'07' * 32}", f"hexinfo:{info.hex()}")
    assert found == derive_key(bytes([7]) * 32, info.decode()).hex()


def test_key_files_open_elsewhere(tmp_path: Path) -> None:
    from cryptography.hazmat.primitives import serialization as form

    key = Ed25519PrivateKey.generate()
    clear = key.private_bytes(form.Encoding.DER, form.PrivateFormat.PKCS8, form.NoEncryption())
    encoded = encrypted_pem(clear, "dreißig Wörter".encode())
    found = load_pem_private_key(encoded, "dreißig Wörter".encode())
    assert isinstance(found, Ed25519PrivateKey) and found.private_bytes_raw() == key.private_bytes_raw()
    if OPENSSL is None:
        pytest.skip("openssl is not installed")
    (tmp_path / "key").write_bytes(encoded)
    (tmp_path / "pass").write_text("dreißig Wörter\n", encoding="utf-8")
    command = [OPENSSL, "pkey", "-in", str(tmp_path / "key"), "-passin", f"file:{tmp_path / 'pass'}", "-outform", "DER"]
    assert subprocess.run(command, capture_output=True, check=True).stdout == clear
    told = subprocess.run([OPENSSL, "asn1parse", "-in", str(tmp_path / "key")], capture_output=True, text=True).stdout
    assert f":{ROUNDS:06X}" in told and "PBKDF2" in told and "hmacWithSHA256" in told and "aes-256-cbc" in told


def test_passphrases_are_composed_and_bounded() -> None:
    assert passphrase_bytes("e\u0301") == passphrase_bytes("\u00e9") == b"\xc3\xa9"
    refusal("E718", "must have 1 to 1,024 bytes in UTF-8, not 0", lambda: passphrase_bytes(""))
    refusal("E718", "not 1,025\n  help: choose another", lambda: passphrase_bytes("x" * 1025))


@pytest.mark.parametrize(
    ("cost", "expected"),
    [
        ({"n": 1 << 17, "r": 8, "p": 1}, True),
        ({"n": 1 << 18, "r": 8, "p": 4}, True),
        ({"n": 1 << 19, "r": 8, "p": 1}, False),
        ({"n": 1 << 40, "r": 8, "p": 1}, False),
        ({"n": 100_000, "r": 8, "p": 1}, False),
        ({"n": 1 << 14, "r": 8, "p": 5}, False),
        ({"n": 1 << 14, "r": 8.0, "p": 1}, False),
        ({"n": 1 << 14, "r": 8}, False),
        ({"n": True, "r": 1, "p": 1}, False),
    ],
)
def test_a_stranger_cannot_ask_for_endless_work(cost: dict[str, int], expected: bool) -> None:
    assert is_affordable(cost) is expected
