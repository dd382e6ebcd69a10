"""The client's public face; market_data_alerts.pay beside it brings the payer (pip install '.[pay]')."""

from .api import NULL
from .async_client import AsyncMarketDataClient
from .client import MarketDataClient
from .errors import (
    ApiError,
    CallError,
    NoAnswerError,
    NotPaidError,
    PaymentRequiredError,
    RateLimitedError,
    UnavailableError,
)
from .history import AsyncHistory, History
from .payment import Payment
from .verify import verify_standard, verify_svc

__all__ = [
    "NULL",
    "ApiError",
    "AsyncHistory",
    "AsyncMarketDataClient",
    "CallError",
    "History",
    "MarketDataClient",
    "NoAnswerError",
    "NotPaidError",
    "Payment",
    "PaymentRequiredError",
    "RateLimitedError",
    "UnavailableError",
    "verify_standard",
    "verify_svc",
]
