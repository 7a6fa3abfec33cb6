"""Which pages may open a socket."""

from __future__ import annotations

from channels.security.websocket import OriginValidator
from django.conf import settings
from django.http.request import split_domain_port, validate_host

from chatbot.security import AsgiApp, Message, Receive, Send


class SameOrigin:
    """Lets in pages of an allowed origin: scheme, host and port alike, never none.

    In demo, whose port is the operator's choice, this host's own pages are let in too.
    """

    def __init__(self, app: AsgiApp) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        allowed = list(settings.ALLOWED_ORIGINS)
        if not settings.PRODUCTION:
            allowed += _own_origin(scope)
        await _Validator(self.app, allowed)(scope, receive, send)


class _Validator(OriginValidator):  # type: ignore[misc]
    def valid_origin(self, parsed_origin: object) -> bool:
        try:
            return bool(super().valid_origin(parsed_origin))
        except ValueError:  # a port that is no number
            return False


def _own_origin(scope: Message) -> list[str]:
    host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
    domain, _ = split_domain_port(host)
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        return []
    return [f"{'https' if scope.get('scheme') == 'wss' else 'http'}://{host}"]


async def no_such_socket(scope: Message, receive: Receive, send: Send) -> None:
    """Refuses the handshake of an address that is no socket's, as a stranger's."""
    await receive()
    await send({"type": "websocket.close", "code": 4403})
