from __future__ import annotations

from django.urls import path

from chatbot.workflow.views import payment_hook

urlpatterns = [path("payment/", payment_hook, name="payment_hook")]
