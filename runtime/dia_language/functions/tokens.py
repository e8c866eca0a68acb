"""JSON Web Tokens signed with a shared secret."""

from __future__ import annotations

from hmac import compare_digest

from dia_language.diagnostics import LanguageError
from dia_language.functions.encoding import text_of, utf8
from dia_language.functions.formatting import json
from dia_language.functions.hashing import hmac
from dia_language.functions.numerals import from_base64url, to_base64url
from dia_language.functions.quoting import from_json
from dia_language.functions.registry import library_function
from dia_language.numbers.values import Record, Value

ALGORITHMS = {"HS256": "sha256", "HS384": "sha384", "HS512": "sha512"}


@library_function
def jwt_encode(payload: Record, secret: str | bytes, algorithm: str = "HS256") -> str:
    """A JSON Web Token with the given payload, signed with `secret`; its header is {"alg":ALGORITHM,"typ":"JWT"}.

    The JSON has no spaces, and fields keep the record's order. `algorithm` is HS256, HS384, HS512, or none, which needs
    an empty secret. Source: RFC 7515, RFC 7518 section 3.2, RFC 7519.

    Examples:
        jwt_encode({"admin": true}, "secret")[:36] -> "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"
    """
    signed = ".".join(to_base64url(utf8(json(part, "compact"))) for part in (Record(alg=algorithm, typ="JWT"), payload))
    return f"{signed}.{to_base64url(_signature(signed, secret, algorithm))}"


@library_function
def jwt_decode(token: str) -> Record:
    """The parts of a JSON Web Token: a record of header, payload (both records) and signature (bytes).

    The signature is not verified; use `jwt_verify` for that. Raises an error if the text is not a token. Source: RFC
    7515, section 3.1.

    Examples:
        jwt_decode(jwt_encode({"admin": true}, "secret")).payload -> {admin: True}
    """
    parts = token.split(".")
    if len(parts) != 3:
        raise LanguageError("the text is not a JSON Web Token", "a token has three parts separated by dots")
    header, payload = _decoded_part(parts[0]), _decoded_part(parts[1])
    if type(header) is not Record or type(payload) is not Record:
        raise LanguageError("the header and payload of a JSON Web Token must be JSON objects")
    return Record(header=header, payload=payload, signature=from_base64url(parts[2]))


@library_function
def jwt_verify(token: str, secret: str | bytes) -> bool:
    """Whether the token has a valid signature for `secret`, with the algorithm that its header names.

    A token with the algorithm none is valid only with an empty secret. Raises an error if the text is not a token, or
    if its header names an algorithm that `jwt_encode` does not support.

    Examples:
        jwt_verify(jwt_encode({"admin": true}, "secret"), "secret") -> True
        jwt_verify(jwt_encode({"admin": true}, "secret"), "guess") -> False
    """
    parts = jwt_decode(token)
    algorithm = parts["header"].get("alg")
    if algorithm == "none" and secret:
        return False
    return compare_digest(_signature(token.rpartition(".")[0], secret, algorithm), parts["signature"])


def _decoded_part(part: str) -> Value:
    """The value of the JSON in a part of the token. Raises LanguageError."""
    return from_json(text_of(from_base64url(part)))


def _signature(signed: str, secret: str | bytes, algorithm: object) -> bytes:
    key = utf8(secret) if isinstance(secret, str) else secret
    if algorithm == "none" and not key:
        return b""
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise LanguageError(
            "tokens are signed here with HS256, HS384 or HS512", "the algorithm none takes an empty secret"
        )
    return hmac(key, utf8(signed), ALGORITHMS[algorithm])
