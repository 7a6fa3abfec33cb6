"""The shop's own pages in the admin: plain tables to edit, no logic."""

from __future__ import annotations

from typing import Any

from django.contrib import admin

from tools.backends.store.models import (
    Address,
    Carrier,
    Customer,
    Order,
    OrderLine,
    Parcel,
    Payment,
    PaymentMethod,
    Product,
    Refund,
    Return,
    ReturnLine,
    TrackingEvent,
    Variant,
)


class _Rows(admin.TabularInline[Any, Any]):
    extra = 0


class AddressRows(_Rows):
    model = Address


class PaymentMethodRows(_Rows):
    model = PaymentMethod


class VariantRows(_Rows):
    model = Variant


class OrderLineRows(_Rows):
    model = OrderLine
    raw_id_fields = ("variant",)


class ParcelRows(_Rows):
    model = Parcel
    fields = ("carrier", "tracking_number", "status", "shipped_at", "delivered_at")
    show_change_link = True


class PaymentRows(_Rows):
    """The ledger is read here and written by the shop alone."""

    model = Payment
    can_delete = False

    def has_add_permission(self, *args: Any) -> bool:
        return False

    def has_change_permission(self, *args: Any) -> bool:
        return False


class RefundRows(_Rows):
    model = Refund
    raw_id_fields = ("method",)


class TrackingEventRows(_Rows):
    model = TrackingEvent


class ReturnRows(_Rows):
    model = Return
    raw_id_fields = ("method",)
    show_change_link = True


class ReturnLineRows(_Rows):
    model = ReturnLine
    raw_id_fields = ("line", "wanted")


@admin.register(Customer)
class CustomerAdmin(admin.ModelAdmin[Customer]):
    list_display = ("id", "name", "language")
    search_fields = ("id", "name", "email")
    inlines = (AddressRows, PaymentMethodRows)


@admin.register(Product)
class ProductAdmin(admin.ModelAdmin[Product]):
    list_display = ("id", "name", "name_zh")
    search_fields = ("id", "name", "name_zh")
    inlines = (VariantRows,)


@admin.register(Carrier)
class CarrierAdmin(admin.ModelAdmin[Carrier]):
    list_display = ("code", "name", "name_zh")


@admin.register(Order)
class OrderAdmin(admin.ModelAdmin[Order]):
    list_display = ("number", "customer", "status", "placed_at", "shipped_at")
    list_filter = ("status",)
    list_select_related = ("customer",)
    search_fields = ("number", "number_key", "customer__name")
    raw_id_fields = ("customer",)
    inlines = (OrderLineRows, ParcelRows, PaymentRows, RefundRows, ReturnRows)
    readonly_fields = ("number_key",)


@admin.register(Parcel)
class ParcelAdmin(admin.ModelAdmin[Parcel]):
    list_display = ("tracking_number", "order", "carrier", "status")
    list_filter = ("status", "carrier")
    list_select_related = ("order", "carrier")
    search_fields = ("tracking_number", "tracking_key", "order__number")
    raw_id_fields = ("order", "lines")
    inlines = (TrackingEventRows,)


@admin.register(Return)
class ReturnAdmin(admin.ModelAdmin[Return]):
    list_display = ("id", "order", "kind", "requested_at", "received_at")
    list_filter = ("kind",)
    list_select_related = ("order",)
    search_fields = ("order__number", "order__number_key")
    raw_id_fields = ("order", "method")
    inlines = (ReturnLineRows,)
