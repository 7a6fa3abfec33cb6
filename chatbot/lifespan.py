"""Start and stop of a web process: last checks, then the work beside the sockets."""

from __future__ import annotations

from chatbot.chat import launch
from chatbot.safety_live import refuse_unsafe_servers
from chatbot.security import Message, Receive, Send


class Lifespan:
    """The ASGI lifespan protocol: a failed start ends the server with the reason."""

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        await receive()
        try:
            await refuse_unsafe_servers()
            await launch.startup()
        except Exception as error:
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            raise
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await launch.shutdown()
        await send({"type": "lifespan.shutdown.complete"})
