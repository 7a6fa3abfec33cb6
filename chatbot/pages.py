"""Django's pages, so many at work at once that the database can serve them all."""

from __future__ import annotations

import asyncio

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.db import connections
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from chatbot.chat.loops import one_per_loop

# Each has a thread and a connection of its own. More would wait for the same processor.
PAGES_AT_ONCE = 4


def _lanes() -> asyncio.Semaphore:
    return asyncio.Semaphore(PAGES_AT_ONCE)


lanes = one_per_loop(_lanes)


class Pages(ASGIHandler):
    """Waits for a lane with the view alone.

    Who sends a body or reads an answer slowly holds up nobody: neither is done in a
    lane, and no connection outlives its view.
    """

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        async with lanes():
            try:
                return await super().get_response_async(request)
            finally:
                # Django would keep it for the next request of a thread that ends now.
                await sync_to_async(connections.close_all)()
