from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Payment:
    """A signed payment: the headers that carry it, and what it is."""

    headers: dict[str, str]
    usdc: float
    idempotency_key: str | None = None
    """What it was sent with, which is among its headers: the same payment with another key is refused."""


class PaidBy(Protocol):
    """Who pays: pay.Payer keeps to a budget. Raises, before it signs, what is not to be paid."""

    def pay(self, headers: Mapping[str, str], body: Any) -> Payment: ...
