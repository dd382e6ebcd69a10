from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .payment import Payment


@dataclass(frozen=True)
class Told:
    """What the API says of a request that it does not answer."""

    status: int
    code: str
    """The API's identifier: symbol_not_found, data_unavailable, a reason code of x402, ..."""
    message: str
    request_id: str | None
    field: str | None
    """The parameter at fault."""
    pointer: str | None
    """Where in it, as a JSON pointer into the body: of a rule."""
    allowed: tuple[str, ...]
    """What could be there; empty: the message says it."""
    retry_after_seconds: float | None


class CallError(Exception):
    """A call that came to nothing, with what it was sent with."""

    code: str
    payment: Payment | None = None
    """Signed for the call and not refused: it may have been settled. Handed back to the same call it is charged once."""
    idempotency_key: str | None = None
    """Of a creation; a payment has its key with it."""


class ApiError(CallError):
    """An answer that is no success."""

    def __init__(self, told: Told) -> None:
        super().__init__(f"{told.status} {told.code}: {told.message}{_place_of(told)}")
        self.told = told
        self.status = told.status
        self.code = told.code


def _place_of(told: Told) -> str:
    if told.pointer is None:
        return ""
    allowed = f"; allowed: {', '.join(told.allowed)}" if told.allowed else ""
    return f" (at {told.pointer}{allowed})"


class PaymentRequiredError(ApiError):
    """402: it costs something and nobody pays, or the payment was refused; code: payment_required or the reason."""


class RateLimitedError(ApiError):
    """429, and no time or try is left."""


class UnavailableError(ApiError):
    """503, or 202 for a symbol that warms up, and no time or try is left."""


class NotPaidError(Exception):
    """An offer that is not to be paid, or a payment of before that is not sent again; nothing was signed."""

    def __init__(
        self, code: Literal["over_max_per_call", "over_total", "unknown_offer"], message: str
    ) -> None:
        super().__init__(message)
        self.code = code


class NoAnswerError(CallError):
    """No answer came: the connection failed, or the deadline was over. Whether the request was followed is not known."""

    code = "no_answer"


def error_of(told: Told) -> ApiError:
    kinds = {402: PaymentRequiredError, 429: RateLimitedError, 503: UnavailableError, 202: UnavailableError}
    return kinds.get(told.status, ApiError)(told)
