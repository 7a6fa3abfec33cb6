from __future__ import annotations

from django.apps import AppConfig


class WorkflowConfig(AppConfig):
    name = "chatbot.workflow"
    label = "workflow"
    verbose_name = "Workflow"
    default_auto_field = "django.db.models.BigAutoField"
