"""What fuzzing begins with beside the kept corpus: every example of every function, and the words of the language."""

from __future__ import annotations

import ast
import doctest
import inspect
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from dia_compiler.types import TYPES
from dia_runtime.formats import FORMATS
from dia_runtime.language.answers import ANSWER_TYPES
from dia_runtime.language.functions import library

SCHEMAS = Path(__file__).parents[2] / "schemas"
KEY = "rsa_key(2**607 - 1, 2**521 - 1)"
CURVE = "named_curve('P-256')"
CALLS = (  # of functions whose worked examples are no single expressions of the language
    f"ecdsa_verify({CURVE}, point_multiply({CURVE}, 5, base_point({CURVE})), sha256(utf8('a')), "
    f"ecdsa_sign({CURVE}, 5, sha256(utf8('a')), 7))",
    f"ecdsa_nonce({CURVE}, 5, sha256(utf8('a')))",
    "filter(is_prime, range(20))", "fixpoint(strip, ' a ')", "iterate(next_prime, 2, 5)", "map(upper, words)",
    "reduce(gcd, [12, 18], 0)", "scan(concat, words, '')", "[quoted(text, style) for style in ['c', 'shell', 'sql']]",
    "is_inside([1, 3], [[0, 0], [4, 0], [4, 4], [0, 4]])", "jwt_verify(jwt_encode(item, 'secret'), 'secret')",
    "jwt_decode(jwt_encode(item, 'secret'))", "parse_url('https://user:pw@example.org:8080/a?b=c#d').host",
    f"rsa_from_pem(rsa_private_pem({KEY})) == {KEY}", "subnet('192.0.2.77', 26)",
    f"rsa_oaep_decrypt({KEY}, rsa_oaep_encrypt({KEY}, utf8('abc'), from_hex(repeat('00', 20))))",
    f"rsa_verify({KEY}, utf8('abc'), rsa_sign({KEY}, utf8('abc')))", "crc(utf8('123456789'), 16, 32773, 65535, true)",
    "x25519(sha256(utf8('a')), from_hex('09' + repeat('00', 31)))", "lines(code_block('x = 1', 'python'))",
    "aes_encrypt(utf8('abc'), from_hex(repeat('00', 16)), 'CBC', from_hex(repeat('01', 16)))",
    "chacha20_poly1305_decrypt(chacha20_poly1305_encrypt(utf8('a'), from_hex(repeat('00', 32)), "
    "from_hex(repeat('00', 12))), from_hex(repeat('00', 32)), from_hex(repeat('00', 12)))",
)  # fmt: skip
NAMES = {"len": "length", "True": "true", "False": "false", "None": "none", "pi": "pi"}


def expressions() -> Iterator[tuple[str, str]]:
    """The name of each function with each of its worked examples, in the words of the language."""
    for name, function in library().items():
        examples = doctest.DocTestParser().get_examples(inspect.getdoc(function.raw) or "")
        for example in examples:
            for tree in _values(example.source):
                yield name, ast.unparse(_Translated(name, function.raw.__name__).visit(tree))
    for call in CALLS:
        yield call.partition("(")[0], call


def _values(source: str) -> list[ast.expr]:
    """The expressions of a line of Python: the elements where it is a tuple of them."""
    statements = ast.parse(source).body
    value = statements[0].value if len(statements) == 1 and isinstance(statements[0], ast.Expr) else None
    if isinstance(value, ast.Tuple):
        return value.elts
    return [] if value is None else [value]


class _Translated(ast.NodeTransformer):
    """Python of a worked example to the language: the library's names, exact numbers, records and bytes."""

    def __init__(self, name: str, python: str) -> None:
        self.named = {python: name, **{function.raw.__name__: other for other, function in library().items()}}
        self.named[python] = name

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        called = node.func
        if isinstance(called, ast.Attribute) and called.attr == "hex":
            return ast.Call(ast.Name("hex"), [called.value], [])
        if not isinstance(called, ast.Name):
            return node
        if called.id in ("Fraction", "ExactDecimal", "Rational"):
            values = [_number(part) for part in node.args]
            return ast.BinOp(values[0], ast.Div(), values[1]) if len(values) == 2 else values[0]
        if called.id == "Record":
            held = [(ast.Constant(key.arg), key.value) for key in node.keywords]
            return ast.Dict([key for key, _ in held], [value for _, value in held])
        if called.id == "bytes":
            size = node.args[0] if isinstance(node.args[0], ast.Constant) else ast.Constant(4)
            return _call("from_hex", _call("repeat", ast.Constant("00"), size))
        if called.id in ("Symbol", "symbols"):
            return _call("symbol", *node.args)
        return ast.Call(ast.Name(self.named.get(called.id, called.id)), node.args, [])

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in ("x", "y", "t", "s"):
            return _call("symbol", ast.Constant(node.id))
        return ast.Name(NAMES.get(node.id, self.named.get(node.id, node.id)))

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bytes):
            return _call("from_hex", ast.Constant(node.value.hex()))
        return ast.Name(NAMES[str(node.value)]) if str(node.value) in NAMES else node


def _number(node: ast.expr) -> ast.expr:
    return (
        ast.parse(node.value, mode="eval").body
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        else node
    )


def _call(name: str, *arguments: Any) -> ast.Call:
    return ast.Call(ast.Name(name), list(arguments), [])


@cache
def words() -> tuple[str, ...]:
    """The names of functions, types, options, formats and keys, for a dictionary of the fuzzer."""
    found = {*library(), *TYPES, *FORMATS, *ANSWER_TYPES, *MARKS}
    for kind in TYPES.values():
        found |= {f"{option}: " for option in kind.options}
    for path in SCHEMAS.glob("*.schema.json"):
        found |= set(_keys(json.loads(path.read_text(encoding="utf-8"))))
    return tuple(sorted(found))


def template_keys() -> list[str]:
    """The keys of a template."""
    schema = json.loads((SCHEMAS / "template.schema.json").read_text(encoding="utf-8"))
    return list(schema["properties"])


MARKS = (
    "= ", "{{ ", " }}", "{% if ", "{% for ", " in ", " %}", "{% endif %}", "{% endfor %}", " for ", " if ", " else ",
    "{type: ", "{from: ", "{min: ", ", max: ", "params:", "let:", "answer", "reply", "it", "index", "**", "//", "10**9",
    "-1", "1/0", "0.5", "[[", "]]", "\n#--- data.csv\n", "\n#--- data.jsonl\n", "\n#--- catalog.yaml\n", "|\n  ", "\\boxed{", "</xml>", "<xml>",
    "Answer: ", "I-DO-NOT-KNOW", "1e400", "\u2212", "\u00bd", "\U0001d7d8",
)  # fmt: skip


def _keys(schema: Any) -> Iterator[str]:
    """The keys that a schema names, with their colons."""
    if isinstance(schema, dict):
        properties = schema.get("properties")
        yield from (f"{key}: " for key in (properties if isinstance(properties, dict) else ()))
        for part in schema.values():
            yield from _keys(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _keys(part)


def dictionary() -> str:
    """The words in libFuzzer's form for `-dict`."""
    return "".join(f'"{_escaped(word)}"\n' for word in words())


def _escaped(word: str) -> str:
    plain = (chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\x{byte:02X}" for byte in word.encode())
    return "".join(plain)
