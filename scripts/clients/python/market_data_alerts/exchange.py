"""What follows from one attempt; the twin of the TypeScript client's exchange.ts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote, urlencode

from .api import NULL, Operation
from .errors import NoAnswerError, Told, error_of

WAIT_SECONDS_MAX = 30.0
WAIT_SECONDS = 0.5


@dataclass(frozen=True)
class Request:
    url: str
    method: str
    headers: dict[str, str]
    body: bytes | None
    is_repeatable: bool
    """Sending it twice does what sending it once does."""
    is_stream: bool = False


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    text: str
    events: Any = None
    """What goes on coming, in place of a text: lines of bytes; to be closed."""


@dataclass(frozen=True)
class Lost:
    why: str


@dataclass(frozen=True)
class Next:
    do: Literal["give", "pay", "wait", "raise"]
    error: Exception | None = None
    seconds: float = 0.0


def next_of(outcome: Answer | Lost, request: Request, *, is_paid: bool, attempt: int) -> Next:
    """is_paid: a payment was sent with it, which the same request may be sent again with: it is charged once."""
    is_safe = request.is_repeatable or is_paid
    backoff = min(WAIT_SECONDS * 2 ** (attempt - 1), WAIT_SECONDS_MAX)
    if isinstance(outcome, Lost):
        lost = NoAnswerError(f"{request.method} {request.url}: {outcome.why}")
        return Next("wait", lost, backoff) if is_safe else Next("raise", lost)
    if outcome.status in (200, 201):
        return Next("give")
    if outcome.status == 402 and not is_paid:
        return Next("pay")
    told = told_of(outcome)
    error = error_of(told)
    # A refusal at the door was not followed; any other 503 may have been.
    is_refusal = told.status in (202, 429) or told.code == "overloaded"
    if is_refusal or (told.status == 503 and is_safe):
        return Next("wait", error, min(told.retry_after_seconds or backoff, WAIT_SECONDS_MAX))
    return Next("raise", error)


def told_of(answer: Answer) -> Told:
    body = _object_in(answer.text)

    def said(name: str) -> str | None:
        value = body.get(name)
        return value if isinstance(value, str) else None

    seconds = answer.headers.get("retry-after", "")
    allowed = body.get("allowed")
    return Told(
        status=answer.status,
        code=said("error") or said("status") or "unknown",
        message=said("message") or "The answer is not in the API's form.",
        request_id=said("request_id") or answer.headers.get("x-request-id"),
        field=said("field"),
        pointer=said("pointer"),
        allowed=tuple(str(one) for one in allowed) if isinstance(allowed, list) else (),
        retry_after_seconds=float(seconds) if seconds.isdecimal() and int(seconds) > 0 else None,
    )


def _object_in(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}  # not from the API, but from something between
    return value if isinstance(value, dict) else {}


def request_of(operation: Operation, base: str, given: Mapping[str, Any]) -> Request:
    """The request of an operation; given: its flat input, None where a field is left out, NULL where a body says null."""
    said = {name: value for name, value in given.items() if value is not None}
    path = operation.path
    for name in [name for name in said if f"{{{name}}}" in path]:
        path = path.replace(f"{{{name}}}", quote(_text_of(said[name]), safe=""))
    query = urlencode([(name, _text_of(said[name])) for name in operation.query if name in said])
    headers = {"accept": "application/json, text/event-stream"}
    if "last_event_id" in said:
        headers["last-event-id"] = said["last_event_id"]
    if operation.is_owners and "manage_token" in said:
        headers["authorization"] = f"Bearer {said['manage_token']}"
    if operation.is_keyed:
        headers["idempotency-key"] = said["idempotency_key"]
    body = None
    if operation.body:
        headers["content-type"] = "application/json"
        fields = {name: said[name] for name in operation.body if name in said}
        body = json.dumps({name: None if value is NULL else value for name, value in fields.items()}).encode()
    return Request(
        url=f"{base}{path}{'?' if query else ''}{query}",
        method=operation.method,
        headers=headers,
        body=body,
        is_repeatable=operation.is_question or operation.is_keyed,
        is_stream="last_event_id" in given,
    )


def _text_of(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(str(one) for one in value)
    return str(value)


EVENT_BYTES_MAX = 4_000_000


def events_of(stream: Any, last: str, is_over: Callable[[], bool]) -> Iterator[dict[str, Any]]:
    """The events of a stream as they come: name, id (of the last event that had one) and data."""
    fields: dict[str, str] = {}
    while not is_over() and (line := stream.readline(EVENT_BYTES_MAX)):
        if not line.endswith(b"\n"):
            return  # cut off, or too long
        field, _, value = line.decode().rstrip("\n").partition(": ")
        if field != "":
            fields[field] = value
            continue
        last = fields.get("id", last)
        if "event" in fields and "data" in fields:
            yield {"name": fields["event"], "id": last, "data": json.loads(fields["data"])}
        fields = {}
