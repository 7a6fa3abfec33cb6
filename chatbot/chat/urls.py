from __future__ import annotations

from django.contrib.auth.views import LogoutView
from django.urls import path

from chatbot.chat import views
from chatbot.chat.log_in import LogInView

urlpatterns = [
    path("", views.home, name="home"),
    path("accounts/login/", LogInView.as_view(), name="login"),
    path("accounts/logout/", LogoutView.as_view(), name="logout"),
    path("chat/guest/", views.as_guest, name="guest"),
    path("try/<slug:username>/", views.try_as, name="try"),
    path("chat/new/", views.new_conversation, name="new-conversation"),
    path("chat/<uuid:conversation_id>/", views.conversation, name="conversation"),
    path(
        "chat/<uuid:conversation_id>/transcript/", views.transcript, name="transcript"
    ),
]
