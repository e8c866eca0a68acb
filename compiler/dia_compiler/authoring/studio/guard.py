"""Keep other pages, other hosts and other users of this machine out of the studio.

The address contains a random token. Requests must name this machine as their host, which stops pages whose host name
points to 127.0.0.1 (DNS rebinding), and must not come from a page of another origin (cross-site requests). The
Content-Security-Policy lets the page run only its own files and connect only to its own server.
"""

from __future__ import annotations

import hmac
import ipaddress
from urllib.parse import urlsplit

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler, Middleware

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; object-src 'self'; "
    "frame-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"  # for content of specs: no script runs in it
PDF_POLICY = "default-src 'none'; style-src 'unsafe-inline'; object-src 'self'"  # PDF viewers do not open in a sandbox
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
LARGEST_BODY = 4 << 20


def guard(token: str) -> Middleware:
    """Return the middleware that lets only requests of the studio's own page pass, and sets the headers of replies."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        refusal = _refusal(request, token)
        if refusal is not None:
            return web.Response(status=refusal[0], text=refusal[1] + "\n", headers=headers(CONTENT_POLICY))
        try:
            return await handler(request)
        except web.HTTPException as error:
            error.headers.update(headers(CONTENT_POLICY))
            raise

    return middleware


def headers(policy: str = PAGE_POLICY) -> dict[str, str]:
    """Return the headers of every reply."""
    return {**HEADERS, "Content-Security-Policy": policy}


def _refusal(request: web.Request, token: str) -> tuple[int, str] | None:
    """Return the status and the reason with which a request is rejected, or None."""
    host = request.headers.get(hdrs.HOST, "")
    if not is_this_machine(host):
        return 403, "This host name is not the studio's. Open the address that `dia studio` printed."
    origin = request.headers.get(hdrs.ORIGIN)
    if origin is not None and urlsplit(origin).netloc != host:
        return 403, "Requests from other pages are refused."
    site, mode = request.headers.get("Sec-Fetch-Site", "none"), request.headers.get("Sec-Fetch-Mode", "navigate")
    if site not in ("none", "same-origin") and (request.method != hdrs.METH_GET or mode != "navigate"):
        return 403, "Requests from other pages are refused."
    sent = request.path.split("/")[1]
    if not hmac.compare_digest(sent.encode("utf-8", "replace"), token.encode()):
        return 403, "The token in the address is missing or wrong. Open the address that `dia studio` printed."
    if request.method == hdrs.METH_POST:
        if origin is None:
            return 403, "Requests without an origin are refused."
        if request.content_type != "application/json":
            return 415, "Send JSON."
    return None


def is_this_machine(host: str) -> bool:
    """Return whether the host of a request is an address of this machine, not a name that resolves to it.

    >>> is_this_machine("127.0.0.1:8000"), is_this_machine("localhost:80"), is_this_machine("127.0.0.1.evil.org")
    (True, True, False)
    """
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
