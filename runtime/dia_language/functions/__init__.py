"""The function library: one literal table from name to function, one module a field.

A function is pure, takes its subject first, has type annotations out of KINDS, and a docstring with
what comes back, limits, errors, source where it has one, and a doctest.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import chain, repeat
from typing import Any

from dia_language.budgets import SIZE, too_large
from dia_language.diagnostics import LanguageError
from dia_language.functions import (
    analysis,
    archives,
    arithmetic,
    audio,
    calculus,
    catalogs,
    checksums,
    classical_ciphers,
    colouring,
    combinatorics,
    compression,
    drawings,
    elf,
    elliptic_curves,
    encoding,
    english,
    esoteric,
    formatting,
    geometry,
    graph,
    hashing,
    higher_order,
    images,
    key_derivation,
    key_search,
    letter_codes,
    linear_algebra,
    lines,
    logic,
    logs,
    modular,
    network,
    notation,
    number_theory,
    numerals,
    obfuscation,
    passwords,
    paths,
    patterns,
    pdf,
    plots,
    polynomials,
    probability,
    program,
    quoting,
    residues,
    rsa,
    sequence,
    sets,
    signatures,
    statistics,
    symmetric_ciphers,
    text,
    text_distance,
    time,
    tokens,
    web,
    web_pages,
)
from dia_language.numbers.values import Entry, Record, is_symbolic, kind_of, normal
from dia_language.plugins import Registry

FUNCTIONS: dict[str, Callable[..., Any]] = {
    # Arithmetic
    "abs": arithmetic.abs_,
    "sign": arithmetic.sign,
    "min": arithmetic.min_,
    "max": arithmetic.max_,
    "sum": arithmetic.sum_,
    "product": arithmetic.product,
    "mean": arithmetic.mean,
    "median": arithmetic.median,
    "floor": arithmetic.floor,
    "ceil": arithmetic.ceil,
    "numerator": arithmetic.numerator,
    "denominator": arithmetic.denominator,
    "sqrt": arithmetic.sqrt,
    "round_to": arithmetic.round_to,
    "digits": arithmetic.digits,
    "digit_sum": arithmetic.digit_sum,
    "to_base": arithmetic.to_base,
    "from_base": arithmetic.from_base,
    "bit_length": arithmetic.bit_length,
    "int32": arithmetic.int32,
    "int64": arithmetic.int64,
    # Number theory
    "is_prime": number_theory.is_prime,
    "next_prime": number_theory.next_prime,
    "previous_prime": number_theory.previous_prime,
    "primes_between": number_theory.primes_between,
    "factor": number_theory.factor,
    "prime_factors": number_theory.prime_factors,
    "divisors": number_theory.divisors,
    "totient": number_theory.totient,
    "continued_fraction": number_theory.continued_fraction,
    "isqrt": number_theory.isqrt,
    "is_square": number_theory.is_square,
    "factorial": number_theory.factorial,
    "binomial": number_theory.binomial,
    "fibonacci": number_theory.fibonacci,
    "prime_count": number_theory.prime_count,
    "nth_prime": number_theory.nth_prime,
    # Common divisors and remainders
    "gcd": modular.gcd,
    "lcm": modular.lcm,
    "mod_pow": modular.mod_pow,
    "mod_inverse": modular.mod_inverse,
    "crt": modular.crt,
    "discrete_log": modular.discrete_log,
    # Orders and squares among remainders
    "multiplicative_order": residues.multiplicative_order,
    "is_primitive_root": residues.is_primitive_root,
    "primitive_root": residues.primitive_root,
    "jacobi": residues.jacobi,
    "sqrt_mod": residues.sqrt_mod,
    # Combinatorics
    "combinations": combinatorics.combinations,
    "permutations": combinatorics.permutations,
    "count_permutations": combinatorics.count_permutations,
    "multinomial": combinatorics.multinomial,
    "partitions": combinatorics.partitions,
    "derangements": combinatorics.derangements,
    "stirling_first": combinatorics.stirling_first,
    "stirling_second": combinatorics.stirling_second,
    "bell": combinatorics.bell,
    "catalan": combinatorics.catalan,
    # Probability
    "expected_value": probability.expected_value,
    "bayes": probability.bayes,
    "binomial_probability": probability.binomial_probability,
    "hypergeometric_probability": probability.hypergeometric_probability,
    "geometric_probability": probability.geometric_probability,
    "poisson_probability": probability.poisson_probability,
    "normal_probability": probability.normal_probability,
    # Statistics
    "modes": statistics.modes,
    "variance": statistics.variance,
    "standard_deviation": statistics.standard_deviation,
    "covariance": statistics.covariance,
    "correlation": statistics.correlation,
    "linear_fit": statistics.linear_fit,
    "quantile": statistics.quantile,
    # Graphs
    "graph": graph.graph,
    "nodes": graph.nodes,
    "edges": graph.edges,
    "neighbours": graph.neighbours,
    "degree_of": graph.degree_of,
    "adjacency_matrix": graph.adjacency_matrix,
    "components": graph.components,
    "is_connected": graph.is_connected,
    "is_bipartite": graph.is_bipartite,
    "has_cycle": graph.has_cycle,
    "is_tree": graph.is_tree,
    "topological_order": graph.topological_order,
    "count_spanning_trees": graph.count_spanning_trees,
    # Ways through graphs
    "shortest_path": paths.shortest_path,
    "shortest_path_length": paths.shortest_path_length,
    "diameter": paths.diameter,
    "minimum_spanning_tree_weight": paths.minimum_spanning_tree_weight,
    "max_flow": paths.max_flow,
    # Colourings and cliques
    "chromatic_number": colouring.chromatic_number,
    "max_clique": colouring.max_clique,
    "count_colourings": colouring.count_colourings,
    # Formulas and arithmetic as trees
    "evaluate": logic.evaluate,
    "truth_table": logic.truth_table,
    "is_tautology": logic.is_tautology,
    "is_satisfiable": logic.is_satisfiable,
    "equivalent": logic.equivalent,
    "variables_of": logic.variables_of,
    "numbers_in": logic.numbers_in,
    # Trees as text
    "written": notation.written,
    "parse_logic": notation.parse_logic,
    "arithmetic": notation.arithmetic,
    # Linear algebra
    "det": linear_algebra.det,
    "rank": linear_algebra.rank,
    "trace": linear_algebra.trace,
    "transpose": linear_algebra.transpose,
    "matrix_multiply": linear_algebra.matrix_multiply,
    "dot": linear_algebra.dot,
    "solve_linear": linear_algebra.solve_linear,
    "inverse": linear_algebra.inverse,
    "identity": linear_algebra.identity,
    "minor": linear_algebra.minor,
    "determinant_mod": linear_algebra.determinant_mod,
    "eigenvalues": linear_algebra.eigenvalues,
    # Algebra and calculus
    "symbol": calculus.symbol,
    "exp": calculus.exp,
    "log": calculus.log,
    "sin": calculus.sin,
    "cos": calculus.cos,
    "tan": calculus.tan,
    "atan": calculus.atan,
    "expand": calculus.expand,
    "substitute": calculus.substitute,
    "differentiate": calculus.differentiate,
    "integrate": calculus.integrate,
    "limit": calculus.limit,
    "solve": calculus.solve,
    "polynomial": calculus.polynomial,
    "evaluate_polynomial": calculus.evaluate_polynomial,
    "polynomial_integral": calculus.polynomial_integral,
    # Polynomials
    "roots": polynomials.roots,
    "factor_polynomial": polynomials.factor_polynomial,
    "degree": polynomials.degree,
    "coefficients": polynomials.coefficients,
    "divide_polynomials": polynomials.divide_polynomials,
    # Proven integrals, series and transforms
    "definite_integral": analysis.definite_integral,
    "arc_length": analysis.arc_length,
    "taylor": analysis.taylor,
    "laplace": analysis.laplace,
    # Geometry
    "clock_angle": geometry.clock_angle,
    "polygon_angle_sum": geometry.polygon_angle_sum,
    "distance": geometry.distance,
    "triangle_area": geometry.triangle_area,
    "polygon_area": geometry.polygon_area,
    "is_inside": geometry.is_inside,
    "convex_hull": geometry.convex_hull,
    "line_intersection": geometry.line_intersection,
    # Lists, and what texts share with them
    "length": sequence.length,
    "range": sequence.range_,
    "sort": sequence.sort,
    "is_sorted": sequence.is_sorted,
    "all": sequence.all_,
    "any": sequence.any_,
    "unique": sequence.unique,
    "set": sequence.set_,
    "reverse": sequence.reverse,
    "rotate": sequence.rotate,
    "zip": sequence.zip_,
    "enumerate": sequence.enumerate_,
    "flatten": sequence.flatten,
    "cartesian": sequence.cartesian,
    "count": sequence.count,
    "first_index": sequence.first_index,
    "field_names": sequence.field_names,
    "first": sequence.first,
    "last": sequence.last,
    "take": sequence.take,
    "drop": sequence.drop,
    "chunks": sequence.chunks,
    "windows": sequence.windows,
    "riffle": sequence.riffle,
    "interleave": sequence.interleave,
    "prefix_sums": sequence.prefix_sums,
    # Lists as sets
    "union": sets.union,
    "intersection": sets.intersection,
    "difference": sets.difference,
    "is_subset": sets.is_subset,
    "tally": sets.tally,
    # Functions of functions
    "map": higher_order.map_,
    "filter": higher_order.filter_,
    "reduce": higher_order.reduce,
    "scan": higher_order.scan,
    "iterate": higher_order.iterate,
    "fixpoint": higher_order.fixpoint,
    "sort_by": higher_order.sort_by,
    "max_by": higher_order.max_by,
    "min_by": higher_order.min_by,
    "group_by": higher_order.group_by,
    # Text
    "str": text.str_,
    "join": text.join,
    "split": text.split,
    "replace": text.replace,
    "without": text.without,
    "concat": text.concat,
    "repeat": text.repeat,
    "upper": text.upper,
    "lower": text.lower,
    "swap_case": text.swap_case,
    "casefold": text.casefold,
    "strip": text.strip,
    "starts_with": text.starts_with,
    "ends_with": text.ends_with,
    "contains": text.contains,
    "pad_left": text.pad_left,
    "pad_right": text.pad_right,
    "char_code": text.char_code,
    "from_char_code": text.from_char_code,
    "characters": text.characters,
    "translate": text.translate,
    "is_palindrome": text.is_palindrome,
    "capitalize": text.capitalize,
    # Words and lines
    "words": lines.words,
    "word_count": lines.word_count,
    "first_words": lines.first_words,
    "lines": lines.lines,
    "join_lines": lines.join_lines,
    "lettered": lines.lettered,
    "relined": lines.relined,
    # Patterns
    "matches": patterns.matches,
    "escape": patterns.escape,
    # Values in a chosen form
    "in_words": formatting.in_words,
    "decimal": formatting.decimal,
    "grouped": formatting.grouped,
    "json": formatting.json,
    # English wording
    "plural": english.plural,
    "agree": english.agree,
    "ordinal": english.ordinal,
    "title_case": english.title_case,
    "listed": english.listed,
    # Passwords
    "entropy_classes": passwords.entropy_classes,
    "guesses": passwords.guesses,
    # Literals, blocks of code and JSON
    "quoted": quoting.quoted,
    "code_block": quoting.code_block,
    "from_json": quoting.from_json,
    # Dates and times
    "is_leap_year": time.is_leap_year,
    "days_in_month": time.days_in_month,
    "year": time.year,
    "month": time.month,
    "day": time.day,
    "hour": time.hour,
    "minute": time.minute,
    "second": time.second,
    "weekday": time.weekday,
    "day_of_year": time.day_of_year,
    "days_between": time.days_between,
    "seconds_between": time.seconds_between,
    "add_days": time.add_days,
    "add_months": time.add_months,
    "add_seconds": time.add_seconds,
    "unix_time": time.unix_time,
    "from_unix_time": time.from_unix_time,
    "clf_time": time.clf_time,
    # Addresses and look-alikes
    "ip_to_int": network.ip_to_int,
    "int_to_ip": network.int_to_ip,
    "ipv6_expanded": network.ipv6_expanded,
    "subnet": network.subnet,
    "in_subnet": network.in_subnet,
    "subnets": network.subnets,
    "mac_address": network.mac_address,
    "skeleton": network.skeleton,
    "lookalikes": network.lookalikes,
    "format_time": time.format_time,
    # Distances between texts
    "levenshtein": text_distance.levenshtein,
    "hamming": text_distance.hamming,
    "longest_common_subsequence": text_distance.longest_common_subsequence,
    "longest_common_substring": text_distance.longest_common_substring,
    "is_subsequence": text_distance.is_subsequence,
    "indel_distance": text_distance.indel_distance,
    # Encodings
    "utf8": encoding.utf8,
    "text_of": encoding.text_of,
    "bytes_of": encoding.bytes_of,
    "list_of": encoding.list_of,
    "hex": encoding.hex_,
    "from_hex": encoding.from_hex,
    "to_base16": encoding.to_base16,
    "from_base16": encoding.from_base16,
    "to_base32": encoding.to_base32,
    "from_base32": encoding.from_base32,
    "to_base64": encoding.to_base64,
    "from_base64": encoding.from_base64,
    "to_base85": encoding.to_base85,
    "from_base85": encoding.from_base85,
    "to_base58": encoding.to_base58,
    "from_base58": encoding.from_base58,
    "encode": encoding.encode,
    "decode": encoding.decode,
    "percent_encode": encoding.percent_encode,
    "percent_decode": encoding.percent_decode,
    # Bytes and numbers as other signs
    "to_base64url": numerals.to_base64url,
    "from_base64url": numerals.from_base64url,
    "to_base45": numerals.to_base45,
    "from_base45": numerals.from_base45,
    "to_ascii85": numerals.to_ascii85,
    "from_ascii85": numerals.from_ascii85,
    "to_bits": numerals.to_bits,
    "from_bits": numerals.from_bits,
    "bytes_to_integer": numerals.bytes_to_integer,
    "integer_to_bytes": numerals.integer_to_bytes,
    "gray_code": numerals.gray_code,
    "from_gray_code": numerals.from_gray_code,
    "to_roman": numerals.to_roman,
    "from_roman": numerals.from_roman,
    "run_lengths": numerals.run_lengths,
    "from_run_lengths": numerals.from_run_lengths,
    # Packed bytes
    "gzip": compression.gzip,
    "gunzip": compression.gunzip,
    "zlib_compress": compression.zlib_compress,
    "zlib_decompress": compression.zlib_decompress,
    # What assets hold: archives, documents, programs, recordings
    "zip_names": archives.zip_names,
    "zip_info": archives.zip_info,
    "zip_member": archives.zip_member,
    "pdf_text": pdf.pdf_text,
    "pdf_info": pdf.pdf_info,
    "log_lines": logs.log_lines,
    "elf_info": elf.elf_info,
    "elf_section": elf.elf_section,
    "elf_strings": elf.elf_strings,
    "wav_info": audio.wav_info,
    "wav_samples": audio.wav_samples,
    "morse_of": audio.morse_of,
    "keys_of": audio.keys_of,
    # The web
    "parse_url": web.parse_url,
    "query_string": web.query_string,
    "parse_query": web.parse_query,
    "html_escape": web.html_escape,
    "html_unescape": web.html_unescape,
    "to_punycode": web.to_punycode,
    "from_punycode": web.from_punycode,
    "http_date": web.http_date,
    # Pages and messages read back
    "html_elements": web_pages.html_elements,
    "html_comments": web_pages.html_comments,
    "http_message": web_pages.http_message,
    "header_of": web_pages.header_of,
    # Codes of pencil and paper
    "to_morse": letter_codes.to_morse,
    "from_morse": letter_codes.from_morse,
    "rot": letter_codes.rot,
    "rot47": classical_ciphers.rot47,
    "atbash": classical_ciphers.atbash,
    "vigenere_encrypt": classical_ciphers.vigenere_encrypt,
    "vigenere_decrypt": classical_ciphers.vigenere_decrypt,
    "affine_encrypt": classical_ciphers.affine_encrypt,
    "affine_decrypt": classical_ciphers.affine_decrypt,
    "rail_fence_encrypt": classical_ciphers.rail_fence_encrypt,
    "rail_fence_decrypt": classical_ciphers.rail_fence_decrypt,
    "columnar_encrypt": classical_ciphers.columnar_encrypt,
    "columnar_decrypt": classical_ciphers.columnar_decrypt,
    "to_polybius": classical_ciphers.to_polybius,
    "from_polybius": classical_ciphers.from_polybius,
    "to_tap_code": classical_ciphers.to_tap_code,
    "from_tap_code": classical_ciphers.from_tap_code,
    "to_bacon": classical_ciphers.to_bacon,
    "from_bacon": classical_ciphers.from_bacon,
    "to_a1z26": classical_ciphers.to_a1z26,
    "from_a1z26": classical_ciphers.from_a1z26,
    # Programs in Brainfuck and Ook!
    "to_brainfuck": esoteric.to_brainfuck,
    "run_brainfuck": esoteric.run_brainfuck,
    "to_ook": esoteric.to_ook,
    "from_ook": esoteric.from_ook,
    # Sources that are hard to read
    "to_pyfuck": obfuscation.to_pyfuck,
    "from_pyfuck": obfuscation.from_pyfuck,
    "renamed": obfuscation.renamed,
    # entries: entries of catalogs
    "name_of": catalogs.name_of,
    # Hash functions and checksums
    "md5": hashing.md5,
    "sha1": hashing.sha1,
    "sha224": hashing.sha224,
    "sha256": hashing.sha256,
    "sha384": hashing.sha384,
    "sha512": hashing.sha512,
    "sha3_224": hashing.sha3_224,
    "sha3_256": hashing.sha3_256,
    "sha3_384": hashing.sha3_384,
    "sha3_512": hashing.sha3_512,
    "blake2b": hashing.blake2b,
    "blake2s": hashing.blake2s,
    "crc32": hashing.crc32,
    "adler32": hashing.adler32,
    "hmac": hashing.hmac,
    "digest": checksums.digest,
    "second_digest": checksums.second_digest,
    "md4": checksums.md4,
    "ripemd160": checksums.ripemd160,
    "keccak256": checksums.keccak256,
    "shake128": checksums.shake128,
    "shake256": checksums.shake256,
    "crc": checksums.crc,
    "luhn_digit": checksums.luhn_digit,
    "ean_digit": checksums.ean_digit,
    "isbn10_digit": checksums.isbn10_digit,
    "iban_digits": checksums.iban_digits,
    # Keys and stored passwords
    "pbkdf2": key_derivation.pbkdf2,
    "hkdf": key_derivation.hkdf,
    "scrypt": key_derivation.scrypt,
    "shadow_hash": key_derivation.shadow_hash,
    "ntlm_hash": key_derivation.ntlm_hash,
    "hotp": key_derivation.hotp,
    # Ciphers with a shared key
    "xor_bytes": symmetric_ciphers.xor_bytes,
    "aes_encrypt": symmetric_ciphers.aes_encrypt,
    "aes_decrypt": symmetric_ciphers.aes_decrypt,
    "chacha20": symmetric_ciphers.chacha20,
    "chacha20_poly1305_encrypt": symmetric_ciphers.chacha20_poly1305_encrypt,
    "chacha20_poly1305_decrypt": symmetric_ciphers.chacha20_poly1305_decrypt,
    "rc4": symmetric_ciphers.rc4,
    # Searches for keys
    "aes_candidates": key_search.aes_candidates,
    # RSA
    "rsa_key": rsa.rsa_key,
    "rsa_encrypt": rsa.rsa_encrypt,
    "rsa_decrypt": rsa.rsa_decrypt,
    "rsa_oaep_encrypt": rsa.rsa_oaep_encrypt,
    "rsa_oaep_decrypt": rsa.rsa_oaep_decrypt,
    "rsa_sign": rsa.rsa_sign,
    "rsa_verify": rsa.rsa_verify,
    "rsa_private_pem": rsa.rsa_private_pem,
    "rsa_public_pem": rsa.rsa_public_pem,
    "rsa_from_pem": rsa.rsa_from_pem,
    # Elliptic curves
    "curve": elliptic_curves.curve,
    "named_curve": elliptic_curves.named_curve,
    "base_point": elliptic_curves.base_point,
    "is_on_curve": elliptic_curves.is_on_curve,
    "point_negate": elliptic_curves.point_negate,
    "point_add": elliptic_curves.point_add,
    "point_multiply": elliptic_curves.point_multiply,
    "curve_points": elliptic_curves.curve_points,
    "curve_order": elliptic_curves.curve_order,
    "point_order": elliptic_curves.point_order,
    # Signatures and shared secrets
    "ecdsa_sign": signatures.ecdsa_sign,
    "ecdsa_verify": signatures.ecdsa_verify,
    "ecdsa_nonce": signatures.ecdsa_nonce,
    "ed25519_public_key": signatures.ed25519_public_key,
    "ed25519_sign": signatures.ed25519_sign,
    "ed25519_verify": signatures.ed25519_verify,
    "x25519": signatures.x25519,
    # Tokens
    "jwt_encode": tokens.jwt_encode,
    "jwt_decode": tokens.jwt_decode,
    "jwt_verify": tokens.jwt_verify,
    # Programs of other languages
    "program": program.program,
    "run_elf": program.run_elf,
    # Pictures read back
    "png_size": images.png_size,
    "png_pixels": images.png_pixels,
    "png_chunks": images.png_chunks,
    "png_text": images.png_text,
    "xmp_of": images.xmp_of,
    "exif_of": images.exif_of,
    "hidden_in": images.hidden_in,
    "read_qr": drawings.read_qr,
    "read_text": drawings.read_text,
    "disks_of": drawings.disks_of,
    "marks_of": plots.marks_of,
}

# Functions not listed have revision 1. A change of what a function returns raises its revision.
REVISIONS: dict[str, int] = {}


def _is_integer(value: Any) -> bool:
    return type(value) is int


def _is_number(value: Any) -> bool:
    kind = type(value)
    return kind is int or isinstance(value, Fraction) or (kind is not bool and is_symbolic(value))


def _is_rational(value: Any) -> bool:
    return type(value) is int or isinstance(value, Fraction)


def _is_list(value: Any) -> bool:
    return type(value) is list


def _list_of(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: type(value) is list and all(map(check, value))


def _all_of(kind: type, check: Callable[[Any], bool] | None = None) -> Callable[[Any], bool]:
    """Whether a value is a list of one plain kind, asked of all elements at once; else each has to pass the check."""
    kinds = {kind}

    def test(value: Any) -> bool:
        if type(value) is not list:
            return False
        return kinds.issuperset(map(type, value)) or (check is not None and all(map(check, value)))

    return test


_are_integers, _are_numbers = _all_of(int), _all_of(int, _is_number)


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_matrix(value: Any) -> bool:
    return type(value) is list and bool(value) and all(_are_numbers(row) and len(row) == len(value[0]) for row in value)


def _is_endpoint(value: Any) -> bool:
    return _is_number(value) or value in ("infinity", "-infinity")


def _is_graph(value: Any) -> bool:
    if type(value) is not Record or not {"nodes", "edges", "directed"} <= value.keys():
        return False
    pairs = value["edges"]
    return (
        type(value["nodes"]) is list
        and type(value["directed"]) is bool
        and type(pairs) is list
        and LISTS.issuperset(map(type, pairs))
        and PAIRS.issuperset(map(len, pairs))
    )


LISTS, PAIRS = frozenset({list}), frozenset({2})


def _is_tree(value: Any) -> bool:
    if type(value) is Record:
        return {"op", "args"} <= value.keys()
    return type(value) in (str, bool) or _is_number(value)


def _has(value: Any, names: str) -> bool:
    return type(value) is Record and all(_is_integer(value.get(name)) for name in names)


def _is_noun(value: Any) -> bool:
    forms = [value.get("one"), value.get("many")] if type(value) is Record else [value]
    return all(map(_is_text, forms))


# Annotation in a function's signature -> (word in messages and docs, test). `Value` is anything.
KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "int": ("integer", _is_integer),
    "int | None": ("integer or none", lambda value: value is None or _is_integer(value)),
    "Number": ("number", _is_number),
    "Rational": ("rational number", _is_rational),
    "bool": ("boolean", lambda value: type(value) is bool),
    "str": ("text", _is_text),
    "bytes": ("bytes", lambda value: type(value) is bytes),
    "str | bytes": ("text or bytes", lambda value: type(value) in (str, bytes)),
    "str | list[Value]": ("text or list", lambda value: type(value) in (str, list)),
    "str | bytes | list[Value]": ("text, bytes or list", lambda value: type(value) in (str, bytes, list)),
    "int | list[Value]": ("integer or list", lambda value: type(value) in (int, list)),
    "list[Number] | None": (
        "list of numbers or none",
        lambda value: value is None or _are_numbers(value),
    ),
    "int | list[int]": (
        "integer or list of integers",
        lambda value: _is_integer(value) or _are_integers(value),
    ),
    "Sized": ("text, bytes, list or record", lambda value: type(value) in (str, bytes, list, Record)),
    "list[Value]": ("list", _is_list),
    "list[int]": ("list of integers", _are_integers),
    "list[Number]": ("list of numbers", _are_numbers),
    "list[Number | bool]": (
        "list of numbers or booleans",
        _all_of(int, lambda value: _is_number(value) or type(value) is bool),
    ),
    "list[Rational]": ("list of rational numbers", _all_of(int, _is_rational)),
    "list[str]": ("list of texts", _all_of(str)),
    "list[list[Value]]": ("list of lists", _all_of(list)),
    "list[list[int]]": ("list of lists of integers", _list_of(_are_integers)),
    "Matrix | list[Number]": (
        "matrix or list of numbers",
        lambda value: _are_numbers(value) or _is_matrix(value),
    ),
    "Matrix": ("matrix (a list of rows of numbers)", _is_matrix),
    "Expression": ("number or symbolic expression", _is_number),
    "Endpoint": ("number, expression, or the text infinity or -infinity", _is_endpoint),
    "Iterable[Value]": ("list", lambda value: type(value) is list or isinstance(value, Iterator)),
    "Graph": ("graph", _is_graph),
    "Points": (
        "list of points (lists of two rational numbers)",
        lambda value: _list_of(_list_of(_is_rational))(value) and all(len(point) == 2 for point in value),
    ),
    "Moment": ("date or time (text such as 2026-01-31 or 2026-01-31T12:30:00Z)", time.is_moment),
    "Noun": ("text, or record of `one` and `many`", _is_noun),
    "Tree": ("tree (a record of `op` and `args`, a name, a number or a boolean)", _is_tree),
    "Record": ("record", lambda value: type(value) is Record),
    "Function": ("function", callable),
    "Entry": ("entry of a catalog", lambda value: type(value) is Entry),
    "Curve": (
        "curve (a record of the integers a, b and p)",
        lambda value: _has(value, "abp") and type(value.get("name", "")) is str,
    ),
    "Point": ("point (a record of the integers x and y, or none)", lambda value: value is None or _has(value, "xy")),
    "RsaKey": (
        "RSA key (a record of integers)",
        lambda value: _has(value, "ne") and all(map(_is_integer, value.values())),
    ),
    "Value": ("value", lambda value: True),
}


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the library with what messages, docs and the compiler need to know of it."""

    name: str
    module: str
    raw: Callable[..., Any]
    call: Callable[..., Any]
    parameters: tuple[tuple[str, str], ...]
    minimum: int
    maximum: int | None
    revision: int

    @property
    def signature(self) -> str:
        """The call as documentation writes it, optional arguments in brackets."""
        shown = [name if at < self.minimum else f"[{name}]" for at, (name, _) in enumerate(self.parameters)]
        return f"{self.name}({', '.join(shown)}{'' if self.maximum is not None else ', ...'})"

    @property
    def doc(self) -> str:
        """The docstring in the names of the language: Python's own carry an underscore behind them."""
        return without_underscores(inspect.getdoc(self.raw) or "")

    @property
    def function_arguments(self) -> frozenset[int]:
        """Places of the arguments that are names of functions."""
        return frozenset(at for at, (_, kind) in enumerate(self.parameters) if kind == "Function")


class Library(Mapping[str, Function]):
    """Name -> Function, described when first asked for: our own, then those of plug-ins."""

    def __init__(self) -> None:
        self.registry = Registry("dia.functions", FUNCTIONS, plugin_fault)
        self.described: dict[str, Function] = {}

    def __getitem__(self, name: str) -> Function:
        if name not in self.described:
            self.described[name] = _described(name, self.registry[name])
        return self.described[name]

    def __contains__(self, name: object) -> bool:
        return name in self.registry

    def __iter__(self) -> Iterator[str]:
        yield from sorted(self.registry)

    def __len__(self) -> int:
        return len(self.registry)


@cache
def library() -> Library:
    """The whole library."""
    return Library()


def plugin_fault(raw: Any) -> str | None:
    """What keeps a thing of another package from being a function of the library, or None."""
    if not callable(raw):
        return "it is no function"
    if not inspect.getdoc(raw):
        return "it has no docstring"
    for parameter in inspect.signature(raw).parameters.values():
        if str(parameter.annotation) not in KINDS:
            known = ", ".join(sorted(KINDS))
            return f"its parameter `{parameter.name}` is annotated `{parameter.annotation}`, which is none of {known}"
    return None


def _described(name: str, raw: Callable[..., Any]) -> Function:
    parameters = list(inspect.signature(raw).parameters.values())
    variadic = bool(parameters) and parameters[-1].kind is inspect.Parameter.VAR_POSITIONAL
    kinds = tuple((parameter.name, str(parameter.annotation)) for parameter in parameters)
    minimum = sum(
        1
        for parameter in parameters
        if parameter.default is inspect.Parameter.empty and parameter.kind is not inspect.Parameter.VAR_POSITIONAL
    )
    return Function(
        name=name,
        module=raw.__module__.rpartition(".")[2],
        raw=raw,
        call=_checked(name, raw, kinds, minimum, variadic),
        parameters=kinds,
        minimum=minimum,
        maximum=None if variadic else len(kinds),
        revision=REVISIONS.get(name, getattr(raw, "revision", 1)),
    )


def without_underscores(doc: str) -> str:
    """The text with `sum_` and its like, which Python needs, as `sum`."""
    own = {raw.__name__: name for name, raw in FUNCTIONS.items() if raw.__name__ != name}
    names = "|".join(map(re.escape, sorted(own)))
    return re.sub(rf"\b({names})\b", lambda found: own[found[1]], doc).replace("guards.", "")


# Annotation -> a type whose values all pass its test
USUAL: dict[str, type] = {
    "int": int,
    "int | None": int,
    "Number": int,
    "Rational": int,
    "Expression": int,
    "bool": bool,
    "str": str,
    "bytes": bytes,
    "str | bytes": str,
    "str | list[Value]": list,
    "str | bytes | list[Value]": list,
    "int | list[Value]": int,
    "int | list[int]": int,
    "Sized": list,
    "list[Value]": list,
    "Iterable[Value]": list,
    "Record": Record,
    "Noun": str,
}
PLAIN = frozenset({str, bool, bytes, list, Record, type(None)})


def _settled(result: Any) -> Any:
    """What a function gave in its normal form. Raises LanguageError for an integer that is too large."""
    if type(result) is not int:
        return normal(result)
    if result.bit_length() > SIZE.bits:
        raise too_large()
    return result


MISSING: Any = object()


def _too_few(raw: Callable[..., Any], subject: Any) -> Any:
    """Calls the function with what there is, whose own complaint names what is missing."""
    return raw() if subject is MISSING else raw(subject)


def _checked(
    name: str, raw: Callable[..., Any], kinds: tuple[tuple[str, str], ...], minimum: int, variadic: bool
) -> Callable[..., Any]:
    """The function behind the tests of its arguments; parameters that take any value cost nothing.

    Solvers call a hundred functions a question, and the loop over arguments costs up to 1 us: the shapes of most
    functions have callers of their own, which look at the type that most arguments have before they call a test.
    """
    tests = tuple(KINDS[kind][1] for _, kind in kinds)
    usual = tuple(USUAL.get(kind) for _, kind in kinds)
    needed = [at for at, (_, kind) in enumerate(kinds) if kind != "Value"]

    def call(*arguments: Any) -> Any:
        for test, argument in zip(chain(tests, repeat(tests[-1])), arguments, strict=False):
            if not test(argument):
                raise _first_mismatch(name, kinds, tests, arguments)
        result = raw(*arguments)
        return result if type(result) in PLAIN else _settled(result)

    def call_of_some(*arguments: Any) -> Any:
        for kind, test, argument in zip(usual, tests, arguments, strict=False):
            if type(argument) is not kind and not test(argument):
                raise _first_mismatch(name, kinds, tests, arguments)
        result = raw(*arguments)
        return result if type(result) in PLAIN else _settled(result)

    def call_of_any(*arguments: Any) -> Any:
        result = raw(*arguments)
        return result if type(result) in PLAIN else _settled(result)

    def call_of_first(subject: Any, *others: Any) -> Any:
        if type(subject) is not kind and not first(subject):
            raise _mismatch(name, kinds[0], subject)
        result = raw(subject, *others)
        return result if type(result) in PLAIN else _settled(result)

    def call_of_one(subject: Any) -> Any:
        if type(subject) is not kind and not first(subject):
            raise _mismatch(name, kinds[0], subject)
        result = raw(subject)
        return result if type(result) in PLAIN else _settled(result)

    def call_of_two(subject: Any = MISSING, other: Any = MISSING) -> Any:
        if other is MISSING:
            return _too_few(raw, subject)
        if (type(subject) is not kind and not first(subject)) or (type(other) is not kind_2 and not second(other)):
            raise _first_mismatch(name, kinds, tests, (subject, other))
        result = raw(subject, other)
        return result if type(result) in PLAIN else _settled(result)

    def call_of_three(subject: Any = MISSING, other: Any = MISSING, *rest: Any) -> Any:
        """Up to three arguments, the third of which may be left out."""
        if other is MISSING:
            return _too_few(raw, subject)
        if (
            (type(subject) is not kind and not first(subject))
            or (type(other) is not kind_2 and not second(other))
            or (rest and type(rest[0]) is not kind_3 and not third(rest[0]))
        ):
            raise _first_mismatch(name, kinds, tests, (subject, other, *rest))
        result = raw(subject, other, *rest)
        return result if type(result) in PLAIN else _settled(result)

    def call_of_alike(*arguments: Any) -> Any:
        if not alike.issuperset(map(type, arguments)) and not all(map(first, arguments)):
            raise _first_mismatch(name, kinds, tests, arguments)
        result = raw(*arguments)
        return result if type(result) in PLAIN else _settled(result)

    if not needed:
        call = call_of_any
    elif variadic:
        alike, first = {usual[0]}, tests[0]
        call = call_of_alike if len(set(tests)) == 1 else call
    elif needed == [0] and minimum:
        (kind, *_), (first, *_) = usual, tests
        call = call_of_one if len(kinds) == 1 else call_of_first
    elif len(kinds) == minimum == 2:
        (kind, kind_2), (first, second), call = usual, tests, call_of_two
    elif len(kinds) == 3 and minimum > 1:
        (kind, kind_2, kind_3), (first, second, third), call = usual, tests, call_of_three
    else:
        call = call_of_some
    call.__name__ = call.__qualname__ = name
    return call


def _first_mismatch(
    name: str, kinds: tuple[tuple[str, str], ...], tests: tuple[Callable[[Any], bool], ...], arguments: tuple[Any, ...]
) -> LanguageError:
    """The error for the first argument of another kind; those behind the last parameter are of its kind."""
    places = (min(place, len(tests) - 1) for place in range(len(arguments)))
    at, argument = next((at, given) for at, given in zip(places, arguments, strict=True) if not tests[at](given))
    return _mismatch(name, kinds[at], argument)


def _mismatch(name: str, parameter: tuple[str, str], argument: Any) -> LanguageError:
    word = KINDS[parameter[1]][0]
    return LanguageError(f"`{name}` needs {_article(word)}{word} as `{parameter[0]}`; this is {_shown(argument)}")


def _article(word: str) -> str:
    if word.startswith(("text", "bytes")):
        return ""
    return "an " if word[0] in "aeiou" else "a "


def _shown(argument: Any) -> str:
    word = kind_of(argument)
    return word if word in ("text", "bytes", "none") else f"{_article(word)}{word}"
