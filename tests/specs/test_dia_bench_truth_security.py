"""The truths of the security families, derived a second time from the words of their prompts alone.

Nothing of the project computes here: plain Python, its standard library and the package cryptography do.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Callable
from itertools import pairwise, product
from typing import Any
from urllib.robotparser import RobotFileParser

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from helpers.prompts import found

Challenges = dict[str, dict[str, str]]
Answers = dict[str, dict[str, Any]]

LOWER = "abcdefghijklmnopqrstuvwxyz"
TOKEN = r"[A-Za-z0-9]+"


def moved_back(text: str, shift: int) -> str:
    """The text with each letter so many places back in its alphabet."""
    back = LOWER[-shift:] + LOWER[:-shift]
    return text.translate(str.maketrans(LOWER + LOWER.upper(), back + back.upper()))


def filtered_sum(challenge: str) -> str:
    (line,) = found(
        r"What does this line of Python print\?\n\n```python\nprint\((sum\([x\d ,()%=!<a-z]+\))\)\n```", challenge
    )
    assert set(re.findall(r"[a-z]+", line)) <= {"sum", "x", "for", "in", "range", "if", "and", "or"}
    return str(eval(line, {"__builtins__": {"sum": sum, "range": range}}))


def rsa_oaep(challenge: str) -> str:
    ciphertext, pem = found(
        r"A token of 16 letters and digits was encrypted with RSA-OAEP, with SHA-1 as the hash function, MGF1 with SHA-1 "
        r"as the mask generation function, and an empty label\. This is the ciphertext in Base64:\n\n(\S+)\n\nWhat is "
        r"the token\? This is the private key:\n\n"
        r"(-----BEGIN PRIVATE KEY-----\n.+\n-----END PRIVATE KEY-----)",
        challenge,
    )
    key: Any = serialization.load_pem_private_key(pem.encode(), None, unsafe_skip_rsa_key_validation=True)
    assert key.key_size == 2048
    oaep = padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA1(), None)
    return str(key.decrypt(base64.b64decode(ciphertext), oaep).decode())


def sha3_despite_a_claim(challenge: str) -> str:
    length, first, last, text = found(
        r"What is the SHA3-256 digest of the text between the two rows of equals signs\? Give it as 64 hexadecimal "
        r"digits, in lowercase or uppercase\. The text is one line of (\d+) ASCII characters\. It starts "
        r"with (.) and ends with (.); the line break is not part of it\."
        r"\n\n==========\n([^\n]+)\n==========",
        challenge,
    )
    assert len(text) == int(length) and (text[0], text[-1]) == (first, last)
    (claim,) = re.findall(r"[0-9a-f]{64}", text)
    digest = hashlib.sha3_256(text.encode("ascii")).hexdigest()
    assert digest != claim
    return digest


def caesar(challenge: str) -> str:
    shift, cipher = found(
        r"This text was encrypted with a Caesar cipher: every letter was replaced by the letter (\d+) "
        r"positions? later in the alphabet, wrapping around from z to a\. Uppercase letters stayed "
        r"uppercase\. What is the original text\?\n\n([A-Za-z]+)",
        challenge,
    )
    return moved_back(cipher, int(shift))


def rot_n(challenge: str) -> str:
    shift, sample, cipher = found(
        r"This text was encrypted with ROT(\d+), which replaces abc with ([a-z]{3})\. Uppercase letters were replaced in the "
        r"same way and stayed uppercase; digits were not changed\. Decrypt the text\.\n\n([A-Za-z0-9]+)",
        challenge,
    )
    assert moved_back(sample, int(shift)) == "abc"
    return moved_back(cipher, int(shift))


def curve_addition(challenge: str) -> str:
    groups = found(
        r"The elliptic curve y\^2 = x\^3 \+ (\d+)x \+ (\d+) is defined over the field of integers modulo the prime "
        r"p = (\d+)\. What is the sum of the points \((\d+), (\d+)\) and \((\d+), (\d+)\) of this curve\? Give its coordinates as "
        r"integers from 0 to p - 1, x first\.",
        challenge,
    )
    a, b, p, x1, y1, x2, y2 = map(int, groups)
    assert all((y * y - x**3 - a * x - b) % p == 0 for x, y in ((x1, y1), (x2, y2)))
    slope = (y2 - y1) * pow(x2 - x1, p - 2, p) % p
    x = (slope**2 - x1 - x2) % p
    return f"({x}, {(slope * (x1 - x) - y1) % p})"


def robots_txt(challenge: str) -> str:
    """The only agent that Python's own parser keeps from the page."""
    target, robots = found(
        r"This is the robots\.txt file of a website\. Which user agent is not allowed to fetch the page "
        r"/([a-z]+)/index\.html\? Give its name as written in the file\.\n\n(.+)",
        challenge,
    )
    parser = RobotFileParser()
    parser.parse(robots.split("\n"))
    agents = re.findall(r"(?m)^User-agent: ([A-Za-z_-]+)$", robots)  # product tokens of RFC 9309
    assert len(set(agents)) == len(agents) == robots.count("User-agent") >= 8
    (agent,) = [agent for agent in agents if not parser.can_fetch(agent, f"/{target}/index.html")]
    return str(agent)


def pin_in_text(challenge: str) -> str:
    """The number in the only sentence with the person and the thing of the question."""
    size, owner, thing, text = found(
        r"This text mentions nine PINs of (\d) digits\. What is the PIN of (\w+)'s ([a-z ]+)\?\n\n(.+)", challenge
    )
    numbers = re.findall(r"\d+", text)
    assert len(set(numbers)) == 9 and {len(number) for number in numbers} == {int(size)}
    sentences = [part for part in text.split(".") if owner in re.split(r"\W", part) and f" {thing}" in part]
    ((pin,),) = [re.findall(r"\d+", sentence) for sentence in sentences]
    return str(pin)


def http_headers(challenge: str) -> str:
    """The value of the custom header that Access-Control-Expose-Headers names (Fetch standard, 3.3.2)."""
    asked, response = challenge.split("\n\n")
    (origin,) = found(
        r"These are the status line and the headers of the response to a cross-origin request\. Six of "
        r"the headers are custom ones, whose names begin with X-\. A script on a page of https://(\S+) that sent "
        r"the request with fetch can read only one of these six\. What "
        r"is the value of that header\? The answer is case-sensitive\.",
        asked,
    )
    first, *lines = response.split("\n")
    headers = dict(line.split(": ", 1) for line in lines)
    assert first == "HTTP/1.1 200 OK" and len(headers) == len(lines) == 16
    assert headers["Access-Control-Allow-Origin"] == f"https://{origin}"
    custom = [value for name, value in headers.items() if name.startswith("X-")]
    assert len(set(custom)) == 6 and all(re.fullmatch(r"[A-Za-z]{10}", value) for value in custom)
    return headers[headers["Access-Control-Expose-Headers"]]


def blockchain_transaction(challenge: str) -> str:
    (rows,) = found(
        r"This is a transaction on an Ethereum chain\. The field names are those of the JSON-RPC API, and "
        r"numbers are in decimal\. The sender put a flag of ten letters into the field input, as ASCII text\. "
        r"What is the flag\? The answer is case-sensitive\.\n\n(.+)",
        challenge,
    )
    data = dict(line.split(": ") for line in rows.split("\n"))["input"]
    assert data.startswith("0x")
    return bytes.fromhex(data[2:]).decode("ascii")


def lcg_increment(challenge: str) -> str:
    modulus, listed = found(
        r"A linear congruential generator computes each state from the previous state s as \(m s \+ c\) mod "
        r"n\. The modulus n is (\d+)\. The multiplier m and the increment c are unknown; both are integers "
        r"from 0 to n - 1\. These are six consecutive states of the generator:\n\n(.+)\n\nFind the increment "
        r"c\.",
        challenge,
    )
    n, s = int(modulus), [int(line.split(". ")[1]) for line in listed.split("\n")]
    assert len(s) == 6
    m = (s[2] - s[1]) * pow(s[1] - s[0], -1, n) % n
    c = (s[1] - m * s[0]) % n
    assert all(later == (m * before + c) % n for before, later in pairwise(s))
    return str(c)


def unknown_encodings(challenge: str) -> str:
    """Every way to undo the layers that ends in a sentence: there must be one."""
    times, packed = found(
        r"An English sentence was encoded (\d+) times in a row: each time, the output of the previous encoding was encoded "
        r"again\. Each encoding was one of these four, in an unknown order: Base16, Base32 and Base64 as defined in RFC 4648 "
        r"\(Base16 with uppercase letters\), and Base85 with the alphabet of RFC 1924, as in Python's base64\.b85encode\. What "
        r"is the sentence\?\n\n(\S+)",
        challenge,
    )
    assert 3 <= int(times) <= 20 and len(packed) <= 12_000
    decoders: list[Callable[[bytes], bytes]] = [
        base64.b16decode, base64.b32decode, lambda data: base64.b64decode(data, validate=True), base64.b85decode,
    ]  # fmt: skip
    texts = {packed.encode("ascii")}
    for _ in range(int(times)):
        texts = {inner for text, decode in product(texts, decoders) for inner in decoded(decode, text)}
    (sentence,) = [text for text in texts if re.fullmatch(rb"[A-Z][a-z, -]+\.", text)]
    return sentence.decode("ascii")


def decoded(decode: Callable[[bytes], bytes], text: bytes) -> list[bytes]:
    try:
        inner = decode(text)
    except ValueError:
        return []
    return [inner] if inner and inner.isascii() else []


def crc_32(challenge: str) -> str:
    token, digits = found(
        rf"Compute the CRC-32 checksum, as used in ZIP, PNG and Ethernet, of the 20 ASCII characters ({TOKEN}) and give it as "
        r"(\d) hexadecimal digits, most significant digit first\.",
        challenge,
    )
    return f"{zlib.crc32(token.encode('ascii')):0{digits}X}"


def binary_substitution(challenge: str) -> str:
    (cipher,) = found(
        r"A token of 20 letters and digits was written as ASCII text in binary, with eight bits for each character, most "
        r"significant bit first\. Then every 0 was replaced by one letter, and every 1 by another\. What is the token\?"
        r"\n\n([a-z]+)",
        challenge,
    )
    zero, one = cipher[0], next(letter for letter in cipher if letter != cipher[0])
    assert set(cipher) == {zero, one} and len(cipher) == 160
    bits = cipher.replace(zero, "0").replace(one, "1") if zero != "1" else ""
    return "".join(chr(int(bits[at : at + 8], 2)) for at in range(0, 160, 8))


def aes_ecb(challenge: str) -> str:
    key, cipher = found(
        r"A token of 16 letters and digits was encrypted as ASCII text with AES-128 in ECB mode, as a single block without "
        r"padding\. In hexadecimal, the key is ([0-9a-f]{32}) and the ciphertext is ([0-9a-f]{32})\. What is the token\?",
        challenge,
    )
    reader = Cipher(algorithms.AES(bytes.fromhex(key)), modes.ECB()).decryptor()
    return (reader.update(bytes.fromhex(cipher)) + reader.finalize()).decode("ascii")


def single_letter_xor(challenge: str) -> str:
    case, key, cipher = found(
        r"A token of 20 letters and digits was encrypted by taking the XOR of the ASCII code of each character with the ASCII "
        r"code of the (uppercase|lowercase) letter ([A-Za-z])\. These are the resulting bytes in hexadecimal:\n\n"
        r"([0-9a-f ]+)\n\nWhat is the token\?",
        challenge,
    )
    assert key.isupper() == (case == "uppercase")
    return "".join(chr(int(byte, 16) ^ ord(key)) for byte in cipher.split(" "))


def strong_password(challenge: str) -> str:
    """The one that is no combination of words, rows and columns of keys, sequences and at most five other characters."""
    count, listed = found(
        r"Of these (\d+) passwords, one is far harder to guess than any of the others\. A password cracker "
        r"knows common words, rows and columns of the keyboard, sequences of letters and digits, and the "
        r"usual ways to change and combine them\. Which password is the hardest to guess\?\n\n(.+)",
        challenge,
    )
    passwords = listed.split("\n")
    assert len(set(passwords)) == int(count) == 60
    (strong,) = [password for password in passwords if len(left_over(password)) > 5]
    assert len(strong) >= 16 and classes(strong) == 4 and len(left_over(strong)) > 12
    return strong


WORDS = re.findall(
    r"\w+",
    "password welcome dragon monkey sunshine football princess shadow master superman summer winter london charlie "
    "cheese flower qwerty asdfgh zxcvbn uiop hjkl vbnm 1qaz 2wsx 3edc 4rfv 5tgb 6yhn 7ujm",
)
RUNS = [LOWER[at : at + size] for size in range(6, 3, -1) for at in range(27 - size)]


def left_over(password: str) -> str:
    """What is left of a password when all words, rows, columns and sequences are taken out of it."""
    plain = password.lower()
    keys = plain.translate(str.maketrans("!@#$%^&", "1234567"))
    texts = [plain, plain.translate(str.maketrans("@3105", "aeios")), keys]
    for part in [*WORDS, *RUNS]:
        texts = [text.replace(part, "") for text in texts]
    return min(texts, key=len)


def classes(text: str) -> int:
    kinds = [r"[a-z]", r"[A-Z]", r"[0-9]", r"[^A-Za-z0-9]"]
    return sum(1 for kind in kinds if re.search(kind, text))


def p256_public_key(challenge: str) -> str:
    (key,) = found(
        r"The number (\d+) is a private key for the elliptic curve P-256 \(also called secp256r1 or prime256v1\)\. The public "
        r"key is the base point of the curve multiplied by this number\. Compute the public key, and give its coordinates x "
        r"and y as decimal numbers, x first\.",
        challenge,
    )
    told = ec.derive_private_key(int(key), ec.SECP256R1()).public_key().public_numbers()
    return f"({told.x}, {told.y})"


def salted_hash_list(challenge: str) -> str:
    salt, digest, count, listed = found(
        rf"A password was hashed with a salt: the SHA-256 digest of the ASCII text made of the salt ({TOKEN}), followed "
        r"directly by the password, is ([0-9a-f]{64})\. Which of these (\d+) passwords was it\?\n\n(.+)",
        challenge,
    )
    assert len(set(listed.split("\n"))) == int(count)
    (word,) = [w for w in listed.split("\n") if hashlib.sha256(f"{salt}{w}".encode()).hexdigest() == digest]
    return word


SOLVERS: list[Callable[[str], str]] = [
    filtered_sum, rsa_oaep, sha3_despite_a_claim, caesar, rot_n, curve_addition, robots_txt, pin_in_text, http_headers,
    blockchain_transaction, lcg_increment, unknown_encodings, crc_32, binary_substitution, aes_ecb, single_letter_xor,
    strong_password, p256_public_key, salted_hash_list,
]  # fmt: skip


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.__name__)
def test_every_truth_is_what_its_prompt_asks_for(
    solver: Callable[[str], str], challenges: Challenges, answers: Answers
) -> None:
    asked = challenges[solver.__name__]
    derived = {id: solver(challenge) for id, challenge in asked.items()}
    assert derived == {id: answers[id]["text"] for id in asked}


# What takes long to find is quick to check: these read the digest or the numbers that the truth has to fit.


def crack_md5(challenge: str) -> str:
    (digest,) = found(
        r"The MD5 digest of a token, hashed as ASCII text, is ([0-9a-f]{32})\. The token has five characters, each a "
        r"letter \(A to Z, a to z\) or a digit\. What is the token\?",
        challenge,
    )
    return digest


def crack_pin(challenge: str) -> str:
    (digest,) = found(
        r"The SHA-256 digest of a PIN, hashed as ASCII text, is ([0-9a-f]{64})\. The PIN has six decimal digits and can "
        r"start with zeros\. What is the PIN\? Give all six digits\.",
        challenge,
    )
    return digest


def salted_leak(challenge: str) -> str:
    digest, known = found(
        r"For each user, a website stores, in hexadecimal, the SHA-256 digest of the ASCII text made of a "
        r"salt followed directly by the password\. The salt is the same for all users\. It has five "
        r"characters, each of them a letter \(A to Z or a to z\) or a digit\. These lines of its user table "
        r"were leaked:\n\nalice ([0-9a-f]{64})\nbob [0-9a-f]{64}\n\nThe password of alice is "
        r"([A-Za-z0-9]{5})\. The password of bob has five characters of the same kind\. What is it\?",
        challenge,
    )
    return f"{digest} {known}"


def diffie_hellman(challenge: str) -> str:
    return " ".join(
        found(
            r".+ prime p = (\d+) with the primitive root g = (\d+)\. .+ A = .+ = (\d+) and B = .+ = (\d+)\. .+",
            challenge,
        )
    )


def test_md5_of_the_tokens_is_the_one_told(challenges: Challenges, answers: Answers) -> None:
    for id, challenge in challenges["crack_md5"].items():
        token = answers[id]["text"]
        assert re.fullmatch(r"[A-Za-z0-9]{5}", token)
        assert hashlib.md5(token.encode("ascii"), usedforsecurity=False).hexdigest() == crack_md5(challenge)


def test_each_pin_has_the_digest_told(challenges: Challenges, answers: Answers) -> None:
    for id, challenge in challenges["crack_pin"].items():
        pin = answers[id]["text"]
        assert re.fullmatch(r"[0-9]{6}", pin)
        assert hashlib.sha256(pin.encode("ascii")).hexdigest() == crack_pin(challenge)


@pytest.mark.long
def test_each_pin_is_the_only_one_with_its_digest(challenges: Challenges, answers: Answers) -> None:
    wanted = {bytes.fromhex(crack_pin(challenge)): id for id, challenge in challenges["crack_pin"].items()}
    pins = [
        (wanted[digest], f"{pin:06d}")
        for pin in range(10**6)
        if (digest := hashlib.sha256(b"%06d" % pin).digest()) in wanted
    ]
    assert len(pins) == len(wanted)
    assert dict(pins) == {id: answers[id]["text"] for id in challenges["crack_pin"]}


def test_salts_and_passwords_have_the_digests_told(challenges: Challenges, answers: Answers) -> None:
    for id, challenge in challenges["salted_leak"].items():
        digest, known = salted_leak(challenge).split()
        salt, secret = answers[id]["parameters"]["salt"], answers[id]["text"]
        assert re.fullmatch(r"[A-Za-z0-9]{5} [A-Za-z0-9]{5}", f"{salt} {secret}")
        assert hashlib.sha256(f"{salt}{known}".encode()).hexdigest() == digest
        assert f"bob {hashlib.sha256(f'{salt}{secret}'.encode()).hexdigest()}\n" in challenge


def test_secrets_are_powers_of_the_values_told(challenges: Challenges, answers: Answers) -> None:
    for id, challenge in challenges["diffie_hellman"].items():
        p, g, first, second = map(int, diffie_hellman(challenge).split())
        drawn = answers[id]["parameters"]
        x, y = (int(drawn[name]["integer"]) if isinstance(drawn[name], dict) else drawn[name] for name in "xy")
        assert (pow(g, x, p), pow(g, y, p)) == (first, second)
        assert str(pow(second, x, p)) == str(pow(first, y, p)) == answers[id]["text"]
        assert pow(g, (p - 1) // 2, p) == p - 1 and p.bit_length() == 128
