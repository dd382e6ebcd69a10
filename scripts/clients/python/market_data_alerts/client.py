from __future__ import annotations

import copy
import dataclasses
import http.client
import json
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .api import OPERATIONS, STREAMS, Api
from .errors import CallError, NoAnswerError, PaymentRequiredError, error_of
from .exchange import Answer, Lost, Request, events_of, next_of, request_of, told_of
from .payment import PaidBy, Payment

DEADLINE_SECONDS = 60.0
TRIES = 6
AGAIN_SECONDS = 1.0
"""Before a stream that was cut is opened again."""
SILENT_SECONDS = 45.0
"""A stream gives a sign of life every 15 s."""
ANSWER_BYTES_MAX = 64 * 1024 * 1024


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class MarketDataClient(Api):
    """The API. A call waits out 429, 503 and warming symbols for as long as its deadline and tries last, repeats what is
    safe to repeat, and sends one payment for all its attempts, so that it is charged once. Where it gives up, its error has
    the payment for the next call, which takes it as `payment`.

    api_key: charges what costs something to the credit of an API key; a payer pays where it has too little.
    on_paid: told each payment and the API's receipt once the answer is there.
    """

    def __init__(
        self,
        base_url: str,
        *,
        payer: PaidBy | None = None,
        api_key: str | None = None,
        deadline_seconds: float = DEADLINE_SECONDS,
        tries: int = TRIES,
        on_paid: Callable[[Payment, str | None], None] | None = None,
    ) -> None:
        self._base = base_url.rstrip("/")
        self._payer = payer
        self._api_key = api_key
        self._deadline_seconds = deadline_seconds
        self._tries = tries
        self._on_paid = on_paid
        self._opener = urllib.request.build_opener(_NoRedirects)
        self._is_over: Callable[[], bool] = lambda: False

    def until(self, is_over: Callable[[], bool]) -> MarketDataClient:
        """The same client, whose streams end once is_over says so, at their next sign of life: 15 s later at most."""
        other = copy.copy(self)
        other._is_over = is_over
        return other

    def send(self, name: str, given: Mapping[str, Any]) -> Any:
        operation = OPERATIONS[name]
        before: Payment | None = given.get("payment")
        own_key = None if before is None else before.idempotency_key
        key = own_key or given.get("idempotency_key") or str(uuid.uuid4())
        request = request_of(operation, self._base, {**given, "idempotency_key": key})
        until = time.monotonic() + self._deadline_seconds
        payment, answer = self._exchange(request, until, before)
        if payment is not None and self._on_paid is not None:
            self._on_paid(payment, answer.headers.get("payment-response"))
        return json.loads(answer.text)

    def listen(self, name: str, given: Mapping[str, Any]) -> Iterator[Any]:
        """Events until the time of the stream is over; over cuts it goes on behind the last one, with the same payment. To
        go on after that, ask again with that event's id: it is paid anew."""
        last: str = given.get("last_event_id") or ""
        # The time of a stream outlasts its payment: the API says when that is over.
        payment: Payment | None = given.get("payment")
        is_told = False
        while not self._is_over():
            request = request_of(STREAMS[name], self._base, {**given, "last_event_id": last or None})
            paid, answer = self._exchange(request, time.monotonic() + self._deadline_seconds, payment)
            if paid is not None and not is_told and self._on_paid is not None:
                self._on_paid(paid, answer.headers.get("payment-response"))
                is_told = True
            payment = paid
            with answer.events as stream:
                try:
                    for event in events_of(stream, last, self._is_over):
                        last = event["id"]
                        yield event
                        if event["name"] == "end" and event["data"]["reason"] != "restarting":
                            return
                except (OSError, http.client.HTTPException):
                    pass  # the connection is lost: it goes on behind the last event
            time.sleep(AGAIN_SECONDS)

    def _exchange(
        self, request: Request, until: float, payment: Payment | None = None
    ) -> tuple[Payment | None, Answer]:
        attempt = 0
        try:
            while True:
                attempt += 1
                outcome = self._attempt(request, payment, until)
                following = next_of(outcome, request, is_paid=payment is not None, attempt=attempt)
                if following.do == "give" and isinstance(outcome, Answer):
                    return payment, outcome
                if following.do == "pay" and isinstance(outcome, Answer):
                    payment = self._pay(outcome, request)
                    continue
                is_over = attempt >= self._tries or time.monotonic() + following.seconds >= until
                if following.error is not None and (following.do == "raise" or is_over):
                    raise following.error
                time.sleep(following.seconds)
        except CallError as error:
            # A payment that was refused is of no further use.
            is_refused = isinstance(error, PaymentRequiredError) or error.code == "payment_already_used"
            error.payment = None if is_refused else payment
            error.idempotency_key = request.headers.get("idempotency-key")
            raise

    def _pay(self, answer: Answer, request: Request) -> Payment:
        """With a key beside it: payments can be read on the chain, and the key is what nobody else has."""
        if self._payer is None:
            raise error_of(told_of(answer))
        payment = self._payer.pay(answer.headers, json.loads(answer.text))
        key = request.headers.get("idempotency-key") or str(uuid.uuid4())
        return dataclasses.replace(payment, headers={**payment.headers, "idempotency-key": key}, idempotency_key=key)

    def _attempt(self, request: Request, payment: Payment | None, until: float) -> Answer | Lost:
        left = until - time.monotonic()
        if left <= 0:
            raise NoAnswerError(f"{request.method} {request.url}: the deadline is over")
        by_key = {} if self._api_key is None else {"x-api-key": self._api_key}
        headers = {**request.headers, **by_key, **(payment.headers if payment is not None else {})}
        out = urllib.request.Request(request.url, request.body, headers, method=request.method)
        try:
            response = self._opened(out, SILENT_SECONDS if request.is_stream else left)
            if response.headers.get("content-type") == "text/event-stream":
                return Answer(response.status, _headers_of(response), "", response)
            with response:
                return _answer_of(response)
        except (OSError, http.client.HTTPException) as error:
            return Lost(str(error))

    def _opened(self, out: urllib.request.Request, seconds: float) -> Any:
        try:
            return self._opener.open(out, timeout=seconds)
        except urllib.error.HTTPError as refused:
            return refused  # an answer too


def _answer_of(response: Any) -> Answer:
    data = response.read(ANSWER_BYTES_MAX + 1)
    if len(data) > ANSWER_BYTES_MAX:
        raise http.client.HTTPException("the answer is too long")
    told = response.headers.get("content-length")
    if told is not None and len(data) < int(told):
        raise http.client.IncompleteRead(data, int(told) - len(data))
    return Answer(response.status, _headers_of(response), data.decode())


def _headers_of(response: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}
