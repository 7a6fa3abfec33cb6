"""Somebody else's shop: an HTTP server with orders, a ledger of its own, and bad days.

It speaks docs/shop-api.md. Its ledger is its own record of what it did, which a test
compares with what the assistant believes.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Mapping
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

from tools.contracts import canonical_number

KEY = "shop-key"


class ShopServer:
    """``faults`` maps the place of an attempt to change something to what happens.

    ``before``: 503, nothing done. ``after``: done, and the connection dropped.
    ``slow``: done after ``slow_seconds``. ``garbage``: done, and no JSON. ``down``
    answers every request with 503. ``effects`` counts what was done under each key,
    ``repeats`` the times that a key came again, and ``found_by_key`` the look-ups that
    kept one from coming again.
    """

    def __init__(self, shop: Mapping[str, Any]) -> None:
        self.shop = shop
        self.faults: dict[int, str] = {}
        self.down = False
        self.slow_seconds = 1.0
        self.lock = threading.Lock()
        self.attempts = 0
        self.effects: Counter[str] = Counter()
        self.done: dict[str, dict[str, Any]] = {}
        self.repeats = 0
        self.found_by_key = 0
        self.happened: Counter[str] = Counter()
        self.requests: list[str] = []
        server = self

        class Handler(_Handler):
            shop_server = server

        self._http = _Quiet(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Self:
        # Its own interval of half a second is what each `shutdown()` would wait for.
        serve = partial(self._http.serve_forever, poll_interval=0.01)
        threading.Thread(target=serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    # ---- what it knows

    def orders_of(self, who: str, name: str) -> list[dict[str, Any]]:
        orders = self.shop["orders"]
        if who == "proved":
            proved = set(name.split(","))
            return [o for o in orders if canonical_number(o["order_id"]) in proved]
        return [o for o in orders if self.shop["owners"][o["order_id"]] == name]

    def known(self, key: str) -> tuple[int, Any]:
        with self.lock:
            known = self.done.get(key)
            self.found_by_key += known is not None
        return (200, {**known, "repeated": True}) if known else (404, {})

    def change(self, customer: str, key: str, body: Mapping[str, Any]) -> Any:
        """Do it once, whatever happens to the answer; None drops the connection."""
        with self.lock:
            self.attempts += 1
            fault = self.faults.get(self.attempts, "")
            if fault:
                self.happened[fault] += 1
            if fault == "before":
                return 503, {}
        if fault == "slow":
            time.sleep(self.slow_seconds)
        with self.lock:
            if key in self.done:
                self.repeats += 1
                result = {**self.done[key], "repeated": True}
            elif not _is_as_agreed(body):
                result = {"succeeded": False, "reason": "stale_approval"}
            else:
                self.effects[key] += 1
                result = {"succeeded": True, "details": {"kind": body["kind"]}}
                self.done[key] = result
        if fault == "after":
            return None
        return (200, "no JSON") if fault == "garbage" else (200, result)


class _Quiet(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """Callers that are killed leave broken pipes behind: nothing to report."""


class _Handler(BaseHTTPRequestHandler):
    shop_server: ShopServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(*self._get())

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        parts = self._parts()
        if self.shop_server.down or not self._is_signed_in():
            self._answer(*self._refusal())
        elif parts[-1] == "contacts":
            self._answer(*self._contact(body))
        elif parts[-1] == "preview":
            order = body["arguments"].get("order_id", "")
            own = self.shop_server.orders_of(parts[1], parts[2])
            found = any(
                canonical_number(o["order_id"]) == canonical_number(order) for o in own
            )
            self._answer(200, _preview(body, found))
        else:
            key = self.headers["Idempotency-Key"]
            answer = self.shop_server.change(parts[2], key, body)
            if answer is None:
                self.close_connection = True
                self.connection.close()
            else:
                self._answer(*answer)

    def _get(self) -> tuple[int, Any]:
        parts, shop = self._parts(), self.shop_server
        shop.requests.append(self.path)
        if shop.down or not self._is_signed_in():
            return self._refusal()
        if parts[1] == "changes":
            return shop.known(parts[2])
        own = shop.orders_of(parts[1], parts[2])
        if parts[3] == "parcels":
            return self._parcel(own, parts[4])
        if len(parts) == 4:
            return self._list(own)
        wanted = canonical_number(parts[4])
        found = [o for o in own if canonical_number(o["order_id"]) == wanted]
        if not found:
            return 404, {}
        if parts[-1] == "refunds":
            return 200, {"order_id": found[0]["order_id"], "refunds": []}
        return 200, found[0]

    def _contact(self, body: Mapping[str, Any]) -> tuple[int, Any]:
        for number, held in self.shop_server.shop["contacts"].items():
            if canonical_number(number) == body["order"]:
                asked = body["contact"].strip().lower()
                by_mail = "@" in asked and asked == held["email"]
                digits = "".join(filter(str.isdigit, asked))
                phone = "".join(filter(str.isdigit, held["phone"]))
                by_phone = len(digits) >= 8 and phone.endswith(digits)
                if by_mail or by_phone:
                    return 200, {"email": held["email"]}
        return 404, {}

    def _list(self, own: list[dict[str, Any]]) -> tuple[int, Any]:
        query = parse_qs(urlsplit(self.path).query)
        status = query.get("status", [""])[0]
        rows = [o for o in own if status in ("", o["status"])]
        rows.sort(key=lambda order: str(order["placed_at"]), reverse=True)
        return 200, {"orders": rows[: int(query["limit"][0])], "total": len(rows)}

    def _parcel(self, own: list[dict[str, Any]], number: str) -> tuple[int, Any]:
        numbers = {o["order_id"] for o in own}
        for shipment in self.shop_server.shop["shipments"]:
            if shipment["order_id"] in numbers and (
                canonical_number(shipment["tracking_id"]) == canonical_number(number)
            ):
                return 200, shipment
        return 404, {}

    def _parts(self) -> list[str]:
        return [
            unquote(part) for part in urlsplit(self.path).path.strip("/").split("/")
        ]

    def _is_signed_in(self) -> bool:
        return self.headers.get("Authorization") == f"Bearer {KEY}"

    def _refusal(self) -> tuple[int, Any]:
        return (503, {}) if self.shop_server.down else (401, {})

    def _answer(self, status: int, body: Any) -> None:
        sent = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: object) -> None:
        pass


def _is_as_agreed(body: Mapping[str, Any]) -> bool:
    now = _preview(body, found=True)
    return all(body["agreed"][name] == now[name] for name in ("direction", "amount"))


def _preview(body: Mapping[str, Any], found: bool) -> dict[str, Any]:
    if not found:
        return {"eligible": False, "reason": "not_found"}
    return {
        "eligible": True,
        "subject": canonical_number(body["arguments"]["order_id"]),
        "arguments": body["arguments"],
        "amount": {"minor": 1990, "currency": "CNY"},
        "direction": "refund",
    }
