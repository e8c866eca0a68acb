"""What fuzzing begins with beside the kept corpus: every example of every function, and the words of the language."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from dia_compiler.types import TYPES
from dia_language.answers import ANSWER_TYPES
from dia_language.functions import library
from dia_runtime.formats import FORMATS
from helpers.answer_samples import TEMPLATES, template

SCHEMAS = Path(__file__).parents[2] / "schemas"
KEY = "rsa_key(2**607 - 1, 2**521 - 1)"
CURVE = "named_curve('P-256')"
# Artefacts as the builders make them, in Base64
ZIP = (
    "UEsDBBQAAAAAAAAAIVCsKpPYAgAAAAIAAAAFAAAAYS50eHRoaVBLAQIUAxQAAAAAAAAAIVCsKpPYAgAAAAIAAAAFAAAAAAAAAAAA"
    "AACkgQAAAABhLnR4dFBLBQYAAAAAAQABADMAAAAlAAAAAAA="
)
MORSE = (
    "UklGRiQFAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAFAAAAAAkdwDMzP+Q8QS3LEwf2btoDxwDA+MZa2u71sxNB"
    "Ldw8Nz/PMyAdAAD24j/MzMAcw7/SNOz5CZIl/Dj/Pwg5piUSCkzsv9Ikw8jAMMzg4gAACR3AMzM/5DxBLcsTB/Zu2gPHAMD4xlra"
    "7vWzE0Et3Dw3P88zIB0AAPbiP8zMwBzDv9I07PkJkiX8OP8/CDmmJRIKTOy/0iTDyMAwzODiAAAJHcAzMz/kPEEtyxMH9m7aA8cA"
    "wPjGWtru9bMTQS3cPDc/zzMgHQAA9uI/zMzAHMO/0jTs+QmSJfw4/z8IOaYlEgpM7L/SJMPIwDDM4OIAAAkdwDMzP+Q8QS3LEwf2"
    "btoDxwDA+MZa2u71sxNBLdw8Nz/PMyAdAAD24j/MzMAcw7/SNOz5CZIl/Dj/Pwg5piUSCkzsv9Ikw8jAMMzg4gAACR3AMzM/5DxB"
    "LcsTB/Zu2gPHAMD4xlra7vWzE0Et3Dw3P88zIB0AAPbiP8zMwBzDv9I07PkJkiX8OP8/CDmmJRIKTOy/0iTDyMAwzODiAAAJHcAz"
    "Mz/kPEEtyxMH9m7aA8cAwPjGWtru9bMTQS3cPDc/zzMgHQAA9uI/zMzAHMO/0jTs+QmSJfw4/z8IOaYlEgpM7L/SJMPIwDDM4OIA"
    "AAkdwDMzP+Q8QS3LEwf2btoDxwDA+MZa2u71sxNBLdw8Nz/PMyAdAAD24j/MzMAcw7/SNOz5CZIl/Dj/Pwg5piUSCkzsv9Ikw8jA"
    "MMzg4gAACR3AMzM/5DxBLcsTB/Zu2gPHAMD4xlra7vWzE0Et3Dw3P88zIB0AAPbiP8zMwBzDv9I07PkJkiX8OP8/CDmmJRIKTOy/"
    "0iTDyMAwzODiAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="
)
KEYS = (
    "UklGRiQFAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAFAAAAAO0tkjneHlr5Oehw8Y7/sfuS53rcLPA6GyA8bjUf"
    "Ctzbssxf4SMAeAziAh/5PQRWH0UuVBql61LFV8Ys7WMZ9yllGucCCv1qCeQQnf9p3SXJHNs7C4Q1/TnyGPfwPOFM7ev9V/xA67Xj"
    "MfnVISc8Fi4G/8HSmslb5FUG5xJDCGj9sAYEHs4nQRCa4lrCScsn9wwjKS9lGnv/J/i1A5UKPvr22/DNJeXZFSU78zcSEdfnyNqv"
    "6kb+4f4w8BPrGgFSJso5ECW18/HKyMiZ6fQNkhnXDAcACgfNGl8gpAZm2+XBVtIEAhYsmDIxGDX6QvIR/mQF1va63GHUne9QH4A+"
    "dDOUB4Hed9UB6qwA/ALP9QjyYgdvKDs19Rrl6AfFV8rN8H8W/x8RELgAaQUYFpUYCP5T1uXDKds2DfUz3TO9E2Tz7Osc+c8Be/Vu"
    "3/LbvPkLJ18/xSwC/ZrVuNFi6/4EUQij+wP4wAtCKN8uUxAi31LBUs6v+WsfbyWAEWD/FQKIEAgR3/aF0zTISuUqGB460jJGDX/r"
    "p+VD9RQAN/bO4xjk/wK0LL49NCT88bXN98/x7vEKVQ4BAY78Dw4FJjInvwXg1gzAoNTSAx8ofCn2EBT8Wf2KCkYKm/Ec03DOE/As"
    "Iis+XC8LBQvjE+D+8loAz/hU6T/s7woYMMI5LhoK51zHhdCi9CISahRyBVb/Ng7yIcIe5/ux0ErB3dyRDgowrytIDgv3rvfABM8E"
    "bO7r1CrW7/rFKtY/iSlu+5/axNu28p4C5Pxp77vzCxEPMbMzSg/h3AHDadMo/A8aERpzCCMAZAyIHCgWTvPKzPTEpuZeGYU2rCt2"
    "CaHwxfHE/wQBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="
)
PDF = (
    "JVBERi0xLjMKJZOMi54gUmVwb3J0TGFiIEdlbmVyYXRlZCBQREYgZG9jdW1lbnQgKG9wZW5zb3VyY2UpCjEgMCBvYmoKPDwKL0Yx"
    "IDIgMCBSCj4+CmVuZG9iagoyIDAgb2JqCjw8Ci9CYXNlRm9udCAvSGVsdmV0aWNhIC9FbmNvZGluZyAvV2luQW5zaUVuY29kaW5n"
    "IC9OYW1lIC9GMSAvU3VidHlwZSAvVHlwZTEgL1R5cGUgL0ZvbnQKPj4KZW5kb2JqCjMgMCBvYmoKPDwKL0NvbnRlbnRzIDcgMCBS"
    "IC9NZWRpYUJveCBbIDAgMCA1OTUgODQyIF0gL1BhcmVudCA2IDAgUiAvUmVzb3VyY2VzIDw8Ci9Gb250IDEgMCBSIC9Qcm9jU2V0"
    "IFsgL1BERiAvVGV4dCAvSW1hZ2VCIC9JbWFnZUMgL0ltYWdlSSBdCj4+IC9Sb3RhdGUgMCAvVHJhbnMgPDwKCj4+IAogIC9UeXBl"
    "IC9QYWdlCj4+CmVuZG9iago0IDAgb2JqCjw8Ci9QYWdlTW9kZSAvVXNlTm9uZSAvUGFnZXMgNiAwIFIgL1R5cGUgL0NhdGFsb2cK"
    "Pj4KZW5kb2JqCjUgMCBvYmoKPDwKL0F1dGhvciAoKSAvQ3JlYXRpb25EYXRlIChEOjIwMDAwMTAxMDAwMDAwKzAwJzAwJykgL0Ny"
    "ZWF0b3IgKGFub255bW91cykgL0tleXdvcmRzICgpIC9Nb2REYXRlIChEOjIwMDAwMTAxMDAwMDAwKzAwJzAwJykgL1Byb2R1Y2Vy"
    "IChSZXBvcnRMYWIgUERGIExpYnJhcnkgLSBcKG9wZW5zb3VyY2VcKSkgCiAgL1N1YmplY3QgKHVuc3BlY2lmaWVkKSAvVGl0bGUg"
    "KCkgL1RyYXBwZWQgL0ZhbHNlCj4+CmVuZG9iago2IDAgb2JqCjw8Ci9Db3VudCAxIC9LaWRzIFsgMyAwIFIgXSAvVHlwZSAvUGFn"
    "ZXMKPj4KZW5kb2JqCjcgMCBvYmoKPDwKL0xlbmd0aCAxMDEKPj4Kc3RyZWFtCjEgMCAwIDEgMCAwIGNtICBCVCAvRjEgMTIgVGYg"
    "MTQuNCBUTCBFVApCVCAvRjEgMTIgVGYgMTQuNCBUTCBFVApCVCAxIDAgMCAxIDU3IDc3MyBUbSAoaGkpIFRqIFQqIEVUCiAKZW5k"
    "c3RyZWFtCmVuZG9iagp4cmVmCjAgOAowMDAwMDAwMDAwIDY1NTM1IGYgCjAwMDAwMDAwNjEgMDAwMDAgbiAKMDAwMDAwMDA5MiAw"
    "MDAwMCBuIAowMDAwMDAwMTk5IDAwMDAwIG4gCjAwMDAwMDAzOTIgMDAwMDAgbiAKMDAwMDAwMDQ2MCAwMDAwMCBuIAowMDAwMDAw"
    "NzA0IDAwMDAwIG4gCjAwMDAwMDA3NjMgMDAwMDAgbiAKdHJhaWxlcgo8PAovSUQgCls8Y2FhYjg2NmM5MjRjZTZkMjVjOWQwMGE1"
    "MWYxYzRiZDQ+PGNhYWI4NjZjOTI0Y2U2ZDI1YzlkMDBhNTFmMWM0YmQ0Pl0KJSBSZXBvcnRMYWIgZ2VuZXJhdGVkIFBERiBkb2N1"
    "bWVudCAtLSBkaWdlc3QgKG9wZW5zb3VyY2UpCgovSW5mbyA1IDAgUgovUm9vdCA0IDAgUgovU2l6ZSA4Cj4+CnN0YXJ0eHJlZgo5"
    "MTQKJSVFT0YK"
)
ELF = (
    "from_base64('"
    "f0VMRgIBAQAAAAAAAAAAAAIAPgABAAAAIBEAAQAAAABAAAAAAAAAAJABAAAAAAAAAAAAAEAAOAAEAEAABAADAAYAAAAEAAAAQAAA"
    "AAAAAABAAAABAAAAAEAAAAEAAAAA4AAAAAAAAADgAAAAAAAAAAgAAAAAAAAAAQAAAAQAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAQAA"
    "AAAgAQAAAAAAACABAAAAAAAAABAAAAAAAAABAAAABQAAACABAAAAAAAAIBEAAQAAAAAgEQABAAAAAD8AAAAAAAAAPwAAAAAAAAAA"
    "EAAAAAAAAFHldGQGAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAMe1IizwkSI10JAhI"
    "g+Tw6AwAAADMzMzMzMzMzMzMzMxVSInlZi4PH4QAAAAAAGaQuDwAAAAx/zH2MdIPBevxTGlua2VyOiBMTEQgMjIuMS44AAAudGV4"
    "dAAuY29tbWVudAAuc2hzdHJ0YWIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAABAAAAAQAAAAYAAAAAAAAAIBEAAQAAAAAgAQAAAAAAAD8AAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAA"
    "AAAABwAAAAEAAAAwAAAAAAAAAAAAAAAAAAAAXwEAAAAAAAATAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAABAAAAAAAAABAAAAADAAAA"
    "AAAAAAAAAAAAAAAAAAAAAHIBAAAAAAAAGgAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAA="
    "')"
)
# Entries stand in specs alone, and programs run only where they are allowed
ONLY_IN_SPECS = ("name_of", "program", "run_elf")
CALLS = (  # more calls than the examples of the docs have
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
    f"[zip_names(from_base64('{ZIP}')), zip_info(from_base64('{ZIP}'), 'a.txt'), "
    f"zip_member(from_base64('{ZIP}'), 'a.txt')]",
    f"[wav_info(from_base64('{MORSE}')), wav_samples(from_base64('{MORSE}')), morse_of(from_base64('{MORSE}'))]",
    f"keys_of(from_base64('{KEYS}'))", f"[pdf_text(from_base64('{PDF}')), pdf_info(from_base64('{PDF}'))]",
    f"elf_info({ELF})", f"elf_strings({ELF})", f"elf_section({ELF}, '.text')",
    "aes_candidates(aes_encrypt(utf8('abc'), utf8('0123456789abcdef'), 'ECB'), utf8('0123456789abcd'))",
    "html_elements('<p><input value=a></p>', 'input')", "http_message(concat('GET / HTTP/1.0', '\\n\\n')).start",
)  # fmt: skip


PRINTED = (
    "{% for word in words %}{{ loop.index }}. {{ word }}{% if not loop.last %}, {% endif %}{% endfor %}",
    "{% for i in range(n) if i -%}\n{{ i }}\n{% else %}none{% endfor %}",
    "{% if flag and n > 3 %}{{ text | upper }}{% elif x < 0 %}{{ item.b | join(', ') }}{% else %}{{ item['a'] }}{% endif %}",
    "{# a note #}{{ '{{' }}{% raw %}{{ n }}{% endraw %}{{ words[0] ~ n }} {{ n if flag else x }} {{ not flag }}",
    "{{ words | length }} {{ words[-1] }} {{ text | lower }} {{ 'a' in text }}",
)
"""Templates in the names of the fuzzer's scope: every statement and every kind of printing."""


def texts(target: str) -> Iterator[str]:
    """The inputs that a target starts from beside its corpus."""
    if target == "expression":
        yield from (text for _, text in expressions())
    if target == "template":
        yield from PRINTED
        yield from (f"{{{{ {text} }}}}" for _, text in expressions())
    if target == "spec":
        yield from (template("fuzzed", *parts) for parts in TEMPLATES.values())


def expressions() -> Iterator[tuple[str, str]]:
    """The name of each function with each of its examples."""
    for name, function in library().items():
        yield from ((name, call) for call, _ in function.examples)
    for call in CALLS:
        yield call.partition("(")[0], call


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
