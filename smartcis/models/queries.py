"""Maintained views and the queries people submitted for them."""

from __future__ import annotations

import secrets
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models.signals import post_delete
from django.dispatch import receiver
from django.utils import timezone

from smartcis.models.outbox import enqueue
from smartcis.queries import ON_DEMAND


class MaintainedView(models.Model):
    """One dataflow of the engine; its beginning and end reach the log through the outbox.

    Args:
        name: the view's id; standing views use their name, submitted ones `q_` and a hash.
        plan_text: the query's plan, all of it in the engine; equal texts share one view.
        columns: `[name, type, unit, nullable]` of each output column.
        sources: relations and views it reads.
        standing: whether it comes from a `.streamsql` file.
        named: whether other queries may read it: CREATE VIEW by somebody with the right to.
        kept: whether the engine keeps it although nobody looks, because its changes go elsewhere.
        comment: one line for the schema browser.
        private: whether it reads other visitors' rows; only staff may follow it then.
        owner: whose share of the engine it takes, as `Owner.share` names them; empty for nobody's.
        error: why it is not registered although its queries are still there; null when it is.
    """

    name = models.CharField(max_length=80, primary_key=True)
    sql = models.TextField()
    plan_text = models.TextField()
    plan_hash = models.CharField(max_length=64, db_index=True)
    strategy = models.CharField(max_length=40)
    columns = models.JSONField()
    sources = models.JSONField()
    standing = models.BooleanField(default=False)
    named = models.BooleanField(default=False)
    kept = models.BooleanField(default=False)
    comment = models.CharField(max_length=300, blank=True)
    private = models.BooleanField(default=False)
    owner = models.CharField(max_length=16, blank=True, default="")
    error = models.JSONField(null=True, blank=True)
    # Registrations replay in this order: a view after those it reads.
    created_at = models.DateTimeField(default=timezone.now)
    order = models.BigIntegerField(default=0, db_index=True)

    READABLE = models.Q(standing=True) | models.Q(named=True)
    """Those that other queries may read."""

    class Meta:
        ordering = ("order",)

    def __str__(self) -> str:
        return self.name

    def registration(self) -> dict[str, Any]:
        """Returns the outbox body that begins the view.

        What people ask may become a parameter row of a common dataflow, and has bounds; standing
        queries are read by others, which share what they are made of.
        """
        begun = [self.name, self.running_text, self.strategy]
        if self.standing:
            return {"register": [*begun, "trunk", self.on_demand]}
        most = [settings.QUERY_STEPS, settings.QUERY_ROWS, settings.QUERY_BYTES]
        return {"register": [*begun, "auto", self.on_demand, *most, self.owner]}

    @property
    def running_text(self) -> str:
        """The plan the engine runs: `plan_text` itself, or what a placement put in its place."""
        return self._placed("running_text")

    @property
    def wanted_text(self) -> str:
        """The plan the engine shall run once the view has moved; `running_text` if it does not."""
        return self._placed("wanted_text")

    def _placed(self, field: str) -> str:
        placement = getattr(self, "placement", None)
        if placement is None or not placement.holds:
            return self.plan_text
        return str(getattr(placement, field) or self.plan_text)

    @property
    def on_demand(self) -> bool:
        """Whether the engine keeps it only while somebody looks, unlike most standing views."""
        return self.name in ON_DEMAND if self.standing else not self.kept


def mint_query_id() -> str:
    """Makes a query's public id."""
    return secrets.token_urlsafe(9)


class MaintainedQuery(models.Model):
    """One person's query; several may share a maintained view.

    Args:
        browser: Django session key of an anonymous owner, empty for a user's.
        address: a digest of where a visitor was, for limits; empty for a user's.
        example: which example visitors share in it; nobody owns it. Empty for somebody's own.
        show_author: whether its page names the account that owns it.
        order: how its rows are shown: `{"keys": [[column, descending, nulls last]], "width": n}`;
            columns from the n-th on only serve the order. Null where the text does not say.
    """

    id = models.CharField(max_length=16, primary_key=True, default=mint_query_id)
    name = models.CharField(max_length=80, blank=True)
    sql = models.TextField()
    view = models.ForeignKey(MaintainedView, on_delete=models.PROTECT, related_name="queries")
    browser = models.CharField(max_length=40, blank=True, db_index=True)
    address = models.CharField(max_length=32, blank=True, default="", db_index=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE
    )
    example = models.CharField(max_length=40, blank=True, default="")
    show_author = models.BooleanField(default=False)
    order = models.JSONField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-created_at",)
        verbose_name_plural = "maintained queries"
        constraints = (
            models.UniqueConstraint(
                fields=["example"], condition=~models.Q(example=""), name="one_query_per_example"
            ),
        )

    def __str__(self) -> str:
        return self.name or self.id

    @property
    def author(self) -> str:
        """Who asks it, where they let it be said; empty otherwise."""
        return self.user.get_username() if self.show_author and self.user is not None else ""


@receiver(post_delete, sender=MaintainedQuery)
def end_view(instance: MaintainedQuery, **_: Any) -> None:
    """Ends a view with its last query, whoever deleted that: its owner, or the owner's account.

    One that other views read stays, as nobody's.
    """
    view = MaintainedView.objects.filter(pk=instance.view_id, standing=False).first()
    if view is None or view.queries.exists() or readers_of(view.name):
        return
    if view.error is None:
        enqueue({"unregister": view.name})
    view.delete()


def readers_of(name: str) -> list[str]:
    """Returns the views that read a relation or view."""
    views = MaintainedView.objects.exclude(name=name)
    return sorted(view for view, reads in views.values_list("name", "sources") if name in reads)
