from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Payment:
    """A signed payment: the headers that carry it, and what it is."""

    headers: dict[str, str]
    usdc: float
    valid_before: float
    """From then on it can no longer be settled, Unix seconds."""
    idempotency_key: str | None = None
    """What it was sent with: the same payment with another key is refused."""

    @property
    def has_expired(self) -> bool:
        return self.valid_before <= time.time()


class PaidBy(Protocol):
    """Who pays: pay.Payer keeps to a budget. Raises, before it signs, what is not to be paid."""

    def pay(self, headers: Mapping[str, str], body: Any) -> Payment: ...
