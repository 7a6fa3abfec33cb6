"""The embedded shop: customers, products, orders, parcels, money.

Amounts are integers in minor units of the order's currency. Numbers that people type
have a ``*_key`` beside them, their canonical form, by which they are looked up.
"""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q

from tools.backends.store.fields import (
    CanonicalField,
    validate_number,
    validate_options,
    validate_time_zone,
)
from tools.contracts import OrderStatus, ParcelStatus, RefundStatus, canonical_number


def _choices(
    enum: type[OrderStatus] | type[ParcelStatus] | type[RefundStatus],
) -> list[tuple[str, str]]:
    return [(member.value, member.value.replace("_", " ")) for member in enum]


class Customer(models.Model):
    id = models.CharField(primary_key=True, max_length=64)
    name = models.CharField(max_length=120)
    # As the customer wrote them, where the two are known apart.
    given_name = models.CharField(max_length=60, blank=True, default="")
    family_name = models.CharField(max_length=60, blank=True, default="")
    email = models.EmailField(blank=True, default="")
    phone = models.CharField(max_length=32, blank=True, default="")
    language = models.CharField(
        max_length=2, choices=[("zh", "中文"), ("en", "English")], default="en"
    )
    time_zone = models.CharField(
        max_length=64, default="UTC", validators=[validate_time_zone]
    )

    def __str__(self) -> str:
        return self.name


class PostalAddress(models.Model):
    """The fields of an address, for whatever has one."""

    recipient = models.CharField(max_length=120, blank=True, default="")
    phone = models.CharField(max_length=32, blank=True, default="")
    address1 = models.CharField(max_length=200, blank=True, default="")
    address2 = models.CharField(max_length=200, blank=True, default="")
    city = models.CharField(max_length=100, blank=True, default="")
    state = models.CharField(max_length=100, blank=True, default="")
    zip = models.CharField(max_length=20, blank=True, default="")
    country = models.CharField(max_length=60, blank=True, default="")

    class Meta:
        abstract = True


class Address(PostalAddress):
    """One of a customer's addresses; at most one is the default."""

    customer = models.ForeignKey(
        Customer, on_delete=models.CASCADE, related_name="addresses"
    )
    is_default = models.BooleanField(default=False)

    class Meta:
        verbose_name_plural = "addresses"
        constraints = [
            models.UniqueConstraint(
                fields=["customer"],
                condition=Q(is_default=True),
                name="address_one_default_per_customer",
            )
        ]

    def __str__(self) -> str:
        return f"{self.city}, {self.address1}"


class PaymentKind(models.TextChoices):
    CREDIT_CARD = "credit_card"
    PAYPAL = "paypal"
    GIFT_CARD = "gift_card"
    ALIPAY = "alipay"
    WECHAT_PAY = "wechat_pay"


class PaymentMethod(models.Model):
    """A way to pay; only a gift card has a balance, in minor units of ``currency``."""

    id = models.CharField(primary_key=True, max_length=64)
    customer = models.ForeignKey(
        Customer, on_delete=models.CASCADE, related_name="payment_methods"
    )
    kind = models.CharField(max_length=16, choices=PaymentKind.choices)
    brand = models.CharField(max_length=40, blank=True, default="")
    last_four = models.CharField(max_length=4, blank=True, default="")
    balance = models.BigIntegerField(null=True, blank=True)
    currency = models.CharField(max_length=3, default="CNY")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(balance__isnull=True) | Q(balance__gte=0),
                name="payment_method_balance_not_negative",
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.last_four}".strip()


class Product(models.Model):
    id = models.CharField(primary_key=True, max_length=64)
    name = models.CharField(max_length=200)
    name_zh = models.CharField(max_length=200, blank=True, default="")

    def __str__(self) -> str:
        return self.name


class Variant(models.Model):
    """What can be bought of a product: one value for each of its options."""

    id = models.CharField(primary_key=True, max_length=64)
    product = models.ForeignKey(
        Product, on_delete=models.CASCADE, related_name="variants"
    )
    options = models.JSONField(default=dict, blank=True, validators=[validate_options])
    price = models.BigIntegerField()
    currency = models.CharField(max_length=3, default="CNY")
    available = models.BooleanField(default=True)

    def __str__(self) -> str:
        return f"{self.product_id} {self.id}"


class Carrier(models.Model):
    """Who carries parcels. ``tracking_url`` has ``{number}`` where the number goes."""

    code = models.CharField(primary_key=True, max_length=32)
    name = models.CharField(max_length=80)
    name_zh = models.CharField(max_length=80, blank=True, default="")
    tracking_url = models.CharField(max_length=200, blank=True, default="")

    def __str__(self) -> str:
        return self.name


class Order(PostalAddress):
    """An order with its own copy of the delivery address.

    ``shop_status`` is the word of another shop that the order was imported from, where
    ``status`` cannot tell it ("pending (item modified)").
    """

    number = models.CharField(max_length=64, unique=True, validators=[validate_number])
    number_key = CanonicalField(of="number", unique=True)
    customer = models.ForeignKey(
        Customer, on_delete=models.CASCADE, related_name="orders"
    )
    status = models.CharField(max_length=16, choices=_choices(OrderStatus))
    currency = models.CharField(max_length=3, default="CNY")
    shipping_fee = models.BigIntegerField(default=0)
    # What was to be paid: the lines and the shipping fee, less any discount.
    total = models.BigIntegerField()
    placed_at = models.DateTimeField()
    paid_at = models.DateTimeField(null=True, blank=True)
    shipped_at = models.DateTimeField(null=True, blank=True)
    delivered_at = models.DateTimeField(null=True, blank=True)
    cancelled_at = models.DateTimeField(null=True, blank=True)
    cancel_reason = models.CharField(max_length=200, blank=True, default="")
    shop_status = models.CharField(max_length=60, blank=True, default="")
    note = models.TextField(blank=True, default="")
    # For staff alone: it never leaves the shop through a tool.
    internal_remark = models.TextField(blank=True, default="")

    class Meta:
        indexes = [models.Index(fields=["customer", "-placed_at"])]

    def __str__(self) -> str:
        return self.number

    def clean(self) -> None:
        # Two spellings of one number would be one number to a customer.
        same = Order.objects.filter(number_key=canonical_number(self.number))
        if same.exclude(pk=self.pk).exists():
            raise ValidationError({"number": "Another order has this number."})


class OrderLine(models.Model):
    """``title``, ``price`` and ``options`` as they were when the order was placed.

    ``item_id`` names the variant that was bought, also when there is no such any more.
    """

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="lines")
    variant = models.ForeignKey(
        Variant, on_delete=models.SET_NULL, null=True, blank=True
    )
    item_id = models.CharField(max_length=64, blank=True, default="")
    title = models.CharField(max_length=200)
    quantity = models.PositiveIntegerField(default=1)
    price = models.BigIntegerField()
    options = models.JSONField(default=dict, blank=True, validators=[validate_options])

    def __str__(self) -> str:
        return self.title


class Parcel(models.Model):
    """One of an order's parcels; it may lack its number although it has left."""

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="parcels")
    carrier = models.ForeignKey(Carrier, on_delete=models.PROTECT)
    fulfillment = models.PositiveSmallIntegerField(default=1)
    tracking_number = models.CharField(
        max_length=64, blank=True, default="", validators=[validate_number]
    )
    tracking_key = CanonicalField(
        of="tracking_number", blank=True, default="", db_index=True
    )
    status = models.CharField(max_length=16, choices=_choices(ParcelStatus))
    shipped_at = models.DateTimeField(null=True, blank=True)
    delivered_at = models.DateTimeField(null=True, blank=True)
    estimated_delivery_at = models.DateTimeField(null=True, blank=True)
    lines = models.ManyToManyField(OrderLine, blank=True, related_name="parcels")

    def __str__(self) -> str:
        return self.tracking_number or f"parcel of {self.order_id}"


class TrackingEvent(models.Model):
    """What a carrier reported, where and when, in the words of the place's language."""

    parcel = models.ForeignKey(Parcel, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField()
    time_zone = models.CharField(
        max_length=64, default="UTC", validators=[validate_time_zone]
    )
    status = models.CharField(max_length=16, choices=_choices(ParcelStatus))
    place = models.CharField(max_length=100, blank=True, default="")
    text = models.CharField(max_length=300, blank=True, default="")

    class Meta:
        indexes = [models.Index(fields=["parcel", "-at"])]

    def __str__(self) -> str:
        return f"{self.status} {self.place}"


class PaymentDirection(models.TextChoices):
    PAYMENT = "payment"
    REFUND = "refund"


class Payment(models.Model):
    """The ledger: every movement of money of an order, never changed afterwards."""

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="payments")
    direction = models.CharField(max_length=8, choices=PaymentDirection.choices)
    amount = models.BigIntegerField()
    method = models.ForeignKey(
        PaymentMethod, on_delete=models.SET_NULL, null=True, blank=True
    )
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(amount__gt=0), name="payment_amount_positive"
            )
        ]

    def __str__(self) -> str:
        return f"{self.direction} {self.amount}"


class Refund(models.Model):
    """A refund on its way; when it has settled, the ledger holds it as well."""

    number = models.CharField(max_length=64, unique=True)
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="refunds")
    status = models.CharField(max_length=16, choices=_choices(RefundStatus))
    amount = models.BigIntegerField()
    method = models.ForeignKey(
        PaymentMethod, on_delete=models.SET_NULL, null=True, blank=True
    )
    requested_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True, blank=True)
    expected_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(amount__gt=0), name="refund_amount_positive"
            )
        ]

    def __str__(self) -> str:
        return self.number


class ReturnKind(models.TextChoices):
    RETURN = "return"
    EXCHANGE = "exchange"


class Return(models.Model):
    """What a customer sends back, for money or for something else.

    ``method`` gets the refund, or pays or gets ``price_difference``: what the new items
    cost more (positive) or less (negative), in minor units of the order's currency.
    """

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="returns")
    kind = models.CharField(max_length=8, choices=ReturnKind.choices)
    reason = models.CharField(max_length=200, blank=True, default="")
    method = models.ForeignKey(
        PaymentMethod, on_delete=models.SET_NULL, null=True, blank=True
    )
    price_difference = models.BigIntegerField(null=True, blank=True)
    requested_at = models.DateTimeField()
    received_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.kind} of order {self.order_id}"


class ReturnLine(models.Model):
    """One line that goes back; ``wanted`` is the variant that an exchange asks for."""

    part_of = models.ForeignKey(Return, on_delete=models.CASCADE, related_name="lines")
    line = models.ForeignKey(OrderLine, on_delete=models.CASCADE)
    quantity = models.PositiveIntegerField(default=1)
    wanted = models.ForeignKey(
        Variant, on_delete=models.SET_NULL, null=True, blank=True
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["part_of", "line"], name="return_line_once_per_return"
            )
        ]

    def __str__(self) -> str:
        return f"{self.quantity} × line {self.line_id}"


class StoreEffect(models.Model):
    """A change that was made: the shop's memory of the key it was asked with.

    Written in the same transaction as the change itself, so that one can't be without
    the other.
    """

    key = models.CharField(max_length=64, unique=True)
    kind = models.CharField(max_length=32)
    customer = models.ForeignKey(Customer, on_delete=models.CASCADE)
    order = models.ForeignKey(
        Order, on_delete=models.CASCADE, null=True, blank=True, related_name="effects"
    )
    amount = models.BigIntegerField(null=True, blank=True)
    details = models.JSONField(default=dict)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"
