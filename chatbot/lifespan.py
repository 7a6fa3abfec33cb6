"""Start and stop of a web process: last checks, then the work beside the sockets."""

from __future__ import annotations

import logging
from importlib import import_module
from importlib.util import find_spec

from chatbot.safety_live import refuse_unsafe_servers
from chatbot.security import Message, Receive, Send

logger = logging.getLogger(__name__)


class Lifespan:
    """The ASGI lifespan protocol: a failed start ends the server with the reason."""

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        launch = (
            import_module("chatbot.chat.launch")
            if find_spec("chatbot.chat.launch")
            else None
        )
        await receive()
        try:
            await refuse_unsafe_servers()
            if launch:
                await launch.startup()
        except Exception as error:
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            raise
        await send({"type": "lifespan.startup.complete"})
        await receive()
        if launch:
            await launch.shutdown()
        await send({"type": "lifespan.shutdown.complete"})
