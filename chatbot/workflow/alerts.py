"""Alerts leave the house by webhook and e-mail, offered until they are taken."""

from __future__ import annotations

import logging

import httpx2
from django.conf import settings
from django.core.mail import send_mail
from django.utils import timezone

from chatbot.workflow.models import Alert
from tools.database import in_database

logger = logging.getLogger(__name__)


async def deliver_alerts() -> int:
    """Offer every alert that no sink has taken yet; how many were taken.

    An alert counts as delivered when each configured sink took it. Without a sink it
    stays listed in the admin, undelivered.
    """
    if not (settings.ALERT_WEBHOOK_URL or settings.ALERT_EMAIL):
        return 0
    taken = 0
    for alert in await in_database(_undelivered):
        if await _offer(alert):
            taken += await in_database(_mark_delivered, alert.pk)
    return taken


async def _offer(alert: Alert) -> bool:
    try:
        if settings.ALERT_WEBHOOK_URL:
            await _post(alert)
        if settings.ALERT_EMAIL:
            await in_database(_mail, alert)
    except (httpx2.HTTPError, OSError) as error:
        # The row stays undelivered and is offered again by the next sweep.
        logger.warning("alert %s not taken: %s", alert.pk, type(error).__name__)
        return False
    return True


async def _post(alert: Alert) -> None:
    body = {"id": alert.pk, "kind": alert.kind, "text": alert.text, "ids": alert.ids}
    async with httpx2.AsyncClient(timeout=5) as client:
        reply = await client.post(settings.ALERT_WEBHOOK_URL, json=body)
        reply.raise_for_status()


def _mail(alert: Alert) -> None:
    send_mail(
        subject=f"[Waybill] {alert.kind}",
        message=f"{alert.text}\n\n{alert.ids}",
        from_email=None,
        recipient_list=[settings.ALERT_EMAIL],
    )


def _undelivered() -> list[Alert]:
    return list(Alert.objects.filter(delivered_at=None).order_by("id")[:50])


def _mark_delivered(alert_id: int) -> int:
    waiting = Alert.objects.filter(pk=alert_id, delivered_at=None)
    return waiting.update(delivered_at=timezone.now())
