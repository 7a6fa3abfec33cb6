"""What every shop system must do for the catalogue, whatever is behind it.

A backend's tests inherit ``BackendContract`` and give it a shop that holds the cast:
Lin (``LIN``) with O-204 (shipped, parcel N-88 in transit) and O-205 (paid), Mei
(``MEI``) with O-305, and with O-311, whose parcel left without a number.
"""

from __future__ import annotations

import pytest

from tools.backends.base import OrderBackend, Owner
from tools.backends.contacts import ContactBook
from tools.contracts import OrderStatus, ParcelStatus

LIN, MEI, NOBODY = Owner("C-LIN"), Owner("C-MEI"), Owner()
PROVED = Owner(orders=frozenset({"O204"}))
SPELLINGS = ("O-204", "o－204", "o 204", "＃O-204", "#o204", " O204 ", "Ｏ－２０４")


class BackendContract:
    """Give ``backend`` as a fixture of the class that inherits this."""

    async def test_an_order_is_whole(self, backend: OrderBackend) -> None:
        order = await backend.get_order(LIN, "O-204")
        assert order is not None
        assert (order.order_id, order.status) == ("O-204", OrderStatus.SHIPPED)
        assert order.placed_at.tzinfo is not None
        assert order.shipped_at is not None
        assert order.items
        assert order.total.minor > 0
        [parcel] = order.parcels
        assert parcel.tracking_id == "N-88"
        assert parcel.status is ParcelStatus.IN_TRANSIT

    async def test_a_parcel_is_whole_and_its_newest_event_comes_first(
        self, backend: OrderBackend
    ) -> None:
        shipment = await backend.track(LIN, "N-88")
        assert shipment is not None
        assert (shipment.tracking_id, shipment.order_id) == ("N-88", "O-204")
        assert shipment.status is ParcelStatus.IN_TRANSIT
        times = [event.at for event in shipment.events]
        assert times
        assert times == sorted(times, reverse=True)
        assert all(at.tzinfo is not None for at in times)
        assert shipment.carrier_name

    @pytest.mark.parametrize("spelling", SPELLINGS)
    async def test_every_spelling_names_the_same_order(
        self, backend: OrderBackend, spelling: str
    ) -> None:
        order = await backend.get_order(LIN, spelling)
        assert order is not None
        assert order.order_id == "O-204"

    @pytest.mark.parametrize("owner", [MEI, NOBODY, Owner(""), Owner("C-NONE")])
    @pytest.mark.parametrize("number", ["O-204", "O-999", "", "#", "😀", "O-204' OR 1"])
    async def test_what_is_not_the_owners_is_not_there(
        self, backend: OrderBackend, owner: Owner, number: str
    ) -> None:
        assert await backend.get_order(owner, number) is None
        assert await backend.refunds(owner, number) is None

    @pytest.mark.parametrize("owner", [MEI, NOBODY, Owner(""), Owner("C-NONE")])
    @pytest.mark.parametrize("number", ["N-88", "N-999", "", "-"])
    async def test_nor_is_a_parcel(
        self, backend: OrderBackend, owner: Owner, number: str
    ) -> None:
        assert await backend.track(owner, number) is None

    async def test_who_proved_one_order_has_that_one_alone(
        self, backend: OrderBackend
    ) -> None:
        assert await backend.get_order(PROVED, "o 204") is not None
        assert await backend.track(PROVED, "N-88") is not None
        assert await backend.get_order(PROVED, "O-205") is None
        assert await backend.get_order(PROVED, "O-305") is None

    async def test_a_list_is_the_owners_own_newest_first_and_counts_all(
        self, backend: OrderBackend
    ) -> None:
        whole = await backend.list_orders(LIN, status=None, limit=20)
        numbers = [order.order_id for order in whole.orders]
        assert {"O-204", "O-205"} <= set(numbers)
        assert "O-305" not in numbers
        placed = [order.placed_at for order in whole.orders]
        assert placed == sorted(placed, reverse=True)
        first = await backend.list_orders(LIN, status=None, limit=1)
        assert [order.order_id for order in first.orders] == numbers[:1]
        assert first.total == whole.total == len(numbers)
        paid = await backend.list_orders(LIN, status=OrderStatus.PAID, limit=20)
        assert [order.order_id for order in paid.orders] == ["O-205"]
        assert paid.total == 1
        assert (await backend.list_orders(NOBODY, status=None, limit=20)).total == 0

    async def test_an_order_without_refunds_is_an_empty_list(
        self, backend: OrderBackend
    ) -> None:
        found = await backend.refunds(LIN, "#o-204")
        assert found is not None
        assert (found.order_id, list(found.refunds)) == ("O-204", [])

    async def test_a_parcel_without_a_number_has_none(
        self, backend: OrderBackend
    ) -> None:
        order = await backend.get_order(MEI, "O-311")
        assert order is not None
        assert [parcel.tracking_id for parcel in order.parcels] == [None]


class ContactContract:
    """What a shop that tells an order's contact must do; give ``book`` as a fixture.

    O-204 holds ``lin@example.com`` and ``+86 138 0000 1204``; O-305 a phone alone,
    ``13900001305``.
    """

    @pytest.mark.parametrize(
        "contact",
        ["lin@example.com", " LIN@Example.com ", "13800001204", "+86 138-0000-1204"],
    )
    @pytest.mark.parametrize("number", ["O-204", "o 204"])
    async def test_an_orders_own_contact_leads_to_its_address(
        self, book: ContactBook, number: str, contact: str
    ) -> None:
        assert await book.email_of(number, contact) == "lin@example.com"

    async def test_an_order_with_a_phone_alone_has_no_address(
        self, book: ContactBook
    ) -> None:
        assert await book.email_of("O-305", "139 0000 1305") == ""

    @pytest.mark.parametrize(
        ("number", "contact"),
        [
            ("O-204", "mei@example.com"),
            ("O-204", "13900001305"),
            ("O-204", "1204"),
            ("O-204", ""),
            ("O-204", "@"),
            ("O-305", "lin@example.com"),
            ("O-305", "@"),
            ("O-999", "lin@example.com"),
            ("", "lin@example.com"),
        ],
    )
    async def test_another_contact_is_told_as_no_order(
        self, book: ContactBook, number: str, contact: str
    ) -> None:
        assert await book.email_of(number, contact) is None
