"""Who reacts to which event: dotted event name -> dotted names of handlers.

This table is the only way in which news travels upward: a room records an event and
never imports the room that wants to know.
"""

from __future__ import annotations

EVENT_ROUTES: dict[str, tuple[str, ...]] = {}
