"""IP addresses."""

from __future__ import annotations

from dia_language.answers.base import LENIENT, Mode, Unreadable, unfit
from dia_language.answers.text import WordAnswer
from dia_language.diagnostics import LanguageError
from dia_language.numbers.addresses import address_text
from dia_language.numbers.values import Value


class IpAddressAnswer(WordAnswer):
    """An IP address, version 4 or 6.

    Parts of an IPv4 address must not have leading zeros (RFC 6943, 3.1.1). IPv6 addresses may be in any valid form.
    Lenient also accepts square brackets around IPv6, the suffix /32 or /128, the defanged form 192.0.2[.]1, and quotes.
    """

    name = "ip_address"

    def settle(self, value: Value) -> Value:
        if type(value) is not str:
            raise unfit(self.name, value, "give an address as text")
        try:
            return self.read(value, "strict")
        except Unreadable:
            help = "write addresses as text such as 192.0.2.1 or 2001:db8::1"
            raise LanguageError("the answer's type is ip_address, but its value is not an address", help) from None

    def read(self, text: str, mode: Mode) -> Value:
        from ipaddress import ip_address

        text = text.strip()
        if mode in LENIENT and len(text) < 100:
            text = text.strip("\"'` ").replace("[.]", ".")
            text = text[1:-1] if text[:1] == "[" and text[-1:] == "]" else text
            text = text.removesuffix("/128" if ":" in text else "/32")
        try:
            if len(text) > 45 or "%" in text or not text.isascii():
                raise ValueError
            address = ip_address(text)
            return address_text(address.version, int(address))
        except ValueError:
            raise Unreadable("not an IP address") from None

    def describe(self) -> str:
        return "an IP address such as 192.0.2.1"

    def samples(self) -> list[Value]:
        return ["192.0.2.1", "2001:db8::1", "198.51.100.7"]
