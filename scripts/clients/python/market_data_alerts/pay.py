"""Pays by x402 with the official package: pip install 'market-data-alerts-client[pay]'."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from eth_account.signers.local import LocalAccount
from x402 import x402ClientSync
from x402.http.x402_http_client import x402HTTPClientSync
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact.register import register_exact_evm_client
from x402.schemas import PaymentRequired, PaymentRequirements

from .errors import NotPaidError
from .payment import Payment

MILLIONTHS = 1_000_000

# USDC of the networks that are paid on. Source: Circle's list of contract addresses.
USDC = {
    "eip155:8453": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    "eip155:84532": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
}


class Payer:
    """Pays in USDC (scheme exact), never beyond its budget: what it signed counts as spent, whatever became of it, since a
    signature may be settled until it ends."""

    def __init__(
        self,
        account: LocalAccount,
        *,
        max_per_call_usdc: float | Decimal,
        total_usdc: float | Decimal,
        networks: tuple[str, ...] = tuple(USDC),
    ) -> None:
        self.address = account.address
        self._max = _millionths(max_per_call_usdc)
        self._total = _millionths(total_usdc)
        self._networks = networks
        self._spent = 0
        self._lock = threading.Lock()
        client = x402ClientSync()
        # Our own budget is stricter, and may be set above a dollar.
        client.set_spend_controls({"max_amount_per_payment": False})
        self._http = x402HTTPClientSync(register_exact_evm_client(client, EthAccountSigner(account)))

    @property
    def spent_usdc(self) -> float:
        return self._spent / MILLIONTHS

    @property
    def left_usdc(self) -> float:
        return (self._total - self._spent) / MILLIONTHS

    def pay(self, headers: Mapping[str, str], body: Any) -> Payment:
        required = self._http.get_payment_required_response(lambda name: headers.get(name.lower()), body)
        known = required.accepts if isinstance(required, PaymentRequired) else []
        offer = next((one for one in known if self._is_known(one)), None)
        if offer is None:
            raise NotPaidError("unknown_offer", "Not paid: nothing is offered for USDC on a network of the budget.")
        amount = int(offer.amount)
        self._reserve(amount)
        try:
            payload = self._http.create_payment_payload(required.model_copy(update={"accepts": [offer]}))
        except BaseException:
            with self._lock:
                self._spent -= amount  # nothing was signed
            raise
        headers = self._http.encode_payment_signature_header(payload)
        return Payment(headers, amount / MILLIONTHS)

    def _reserve(self, amount: int) -> None:
        asked = f"Not paid: it costs {amount / MILLIONTHS} USDC"
        with self._lock:
            if amount > self._max:
                raise NotPaidError("over_max_per_call", f"{asked}, more than {self._max / MILLIONTHS} USDC a call.")
            if self._spent + amount > self._total:
                raise NotPaidError("over_total", f"{asked}, and {self.left_usdc} USDC of the budget are left.")
            self._spent += amount

    def _is_known(self, offer: PaymentRequirements) -> bool:
        asset = USDC.get(offer.network, "")
        is_usdc = offer.network in self._networks and asset.lower() == offer.asset.lower()
        return offer.scheme == "exact" and is_usdc and offer.amount.isdecimal()


def _millionths(amount: float | Decimal) -> int:
    return int(Decimal(str(amount)) * MILLIONTHS)
