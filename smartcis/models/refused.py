"""Refused messages: what a source sent that cannot be used, kept for somebody to look at.

Law:        all are counted, the newest `KEPT` of each source are kept, the beginning of each.
"""

from __future__ import annotations

from django.db import models, transaction
from django.db.models import F

from smartcis.models.wrapped import Source, SourceState
from smartcis.wrappers.protocol import MessageRefusal

KEPT = 50
BEGINNING_BYTES = 2_000
TOPIC_LENGTH = 200
REASON_LENGTH = 500


class RefusedMessage(models.Model):
    """One message.

    Args:
        topic: of the broker it came from.
        code: of the error; `reason` says the same in words.
        size_bytes: of all of it.
        beginning: its first 2,000 bytes; other bytes than text as their numbers.
    """

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="refused_messages")
    at = models.DateTimeField(auto_now_add=True)
    topic = models.CharField(max_length=TOPIC_LENGTH)
    code = models.CharField(max_length=100)
    reason = models.CharField(max_length=REASON_LENGTH)
    size_bytes = models.PositiveBigIntegerField()
    beginning = models.TextField()

    class Meta:
        ordering = ("-pk",)
        verbose_name = "message that was refused"
        verbose_name_plural = "messages that were refused"

    def __str__(self) -> str:
        return f"{self.topic}: {self.reason}"


@transaction.atomic
def keep_refused(source: str, refusal: MessageRefusal) -> None:
    """Counts a message, and keeps it in place of the oldest."""
    if not Source.objects.select_for_update().filter(pk=source).exists():
        return  # it was removed meanwhile
    SourceState.objects.get_or_create(source_id=source)
    SourceState.objects.filter(pk=source).update(refused=F("refused") + 1)
    fault = refusal.fault
    RefusedMessage.objects.create(
        source_id=source,
        topic=_text(refusal.topic.encode(errors="replace"))[:TOPIC_LENGTH],
        code=fault.code,
        reason=_text(fault.message.encode(errors="replace"))[:REASON_LENGTH],
        size_bytes=len(refusal.data),
        beginning=_text(refusal.data[:BEGINNING_BYTES]),
    )
    mine = RefusedMessage.objects.filter(source_id=source)
    oldest = mine.values_list("pk", flat=True)[KEPT - 1 : KEPT].first()
    if oldest is not None:
        mine.filter(pk__lt=oldest).delete()


def _text(data: bytes) -> str:
    return data.decode(errors="backslashreplace").replace("\0", "\\x00")
