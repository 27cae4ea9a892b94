"""Accounts: signing in and out, and requests that are seen as a visitor's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from channels.db import database_sync_to_async
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.contrib.auth.views import LoginView, LogoutView
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.utils.functional import SimpleLazyObject
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views import View

from smartcis.access.grants import is_staff
from smartcis.access.seen_as import is_as_visitor, is_of_kiosk, set_as_visitor
from smartcis.admin.login import AccountLogin
from smartcis.body_limit import App, Message, Receive, Send
from smartcis.models.changes import ACTOR

User = AbstractBaseUser | AnonymousUser


class SeenAsVisitor:
    """Middleware that takes the account off requests that are seen as a visitor's.

    Nothing is looked up before somebody asks for the user. `request.signed_in` stays whoever
    signed in, `request.seen_as_visitor` says whether staff chose to see pages so.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answers the request."""
        signed_in = request.user
        kiosk = is_of_kiosk(request.path, request.headers.get("Referer", ""))

        def chosen() -> bool:
            return not kiosk and is_staff(signed_in) and is_as_visitor(request.session)

        def user() -> User:
            return AnonymousUser() if kiosk or chosen() else signed_in

        request.signed_in = signed_in  # type: ignore[attr-defined]
        request.seen_as_visitor = SimpleLazyObject(chosen)  # type: ignore[attr-defined]
        request.user = cast("Any", SimpleLazyObject(user))
        # Whoever turns out to act: a token's account takes the place of the session's.
        told = ACTOR.set(lambda: request.user.get_username() if is_staff(request.user) else "")
        try:
            return self.get_response(request)
        finally:
            ACTOR.reset(told)


class SocketSeenAsVisitor:
    """The same for sockets; inside the middleware that finds the account.

    Args:
        app: an ASGI application.
    """

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Passes a socket on."""
        query = scope.get("query_string", b"").decode("latin1")
        chosen = database_sync_to_async(is_as_visitor)
        if is_of_kiosk(scope["path"], "", query) or await chosen(scope["session"]):
            scope = {**scope, "user": AnonymousUser()}
        await self.app(scope, receive, send)


class SignIn(LoginView):
    """Signs anybody with an account in."""

    template_name = "smartcis/login.html"
    authentication_form = AccountLogin
    next_page = "/"
    extra_context = {"title": gettext_lazy("Sign in")}  # noqa: RUF012  # Django's name and way


class SignOut(LogoutView):
    """Signs out, and says so; asked with GET it offers to."""

    http_method_names = ["get", "post", "options"]  # noqa: RUF012  # Django's name and way
    template_name = "smartcis/signed_out.html"
    extra_context = {"title": gettext_lazy("Sign out")}  # noqa: RUF012  # Django's name and way

    def get(self, request: HttpRequest, *_args: Any, **_kwargs: Any) -> HttpResponse:
        """Shows the page."""
        del request
        return self.render_to_response(self.get_context_data())


class AsVisitor(View):
    """Begins and ends that staff see pages as a visitor does."""

    def get(self, _request: HttpRequest) -> HttpResponse:
        """Leads to the map: it begins with a form."""
        return HttpResponseRedirect("/")

    def post(self, request: HttpRequest) -> HttpResponse:
        """Begins or ends it, and goes on with the page that asked.

        Raises:
            PermissionDenied: only staff see more than visitors.
        """
        on = "end" not in request.POST
        if on and not is_staff(request.user):
            raise PermissionDenied(_("Only staff see more than visitors do."))
        set_as_visitor(request.session, on=on)
        page = request.headers.get("Referer", "")
        known = url_has_allowed_host_and_scheme(page, {request.get_host()}, request.is_secure())
        return HttpResponseRedirect(page if known and "/admin/" not in page else "/")
