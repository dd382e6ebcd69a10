"""Calls the client as a test says: one JSON object a line in, one out. Not part of the package.

In: {"call", "input", "options": {"tries", "deadline_seconds"}, "base"}; the key and the budget stand in the environment.
"""

import json
import os
import sys
from collections.abc import Iterator

from market_data_alerts import ApiError, MarketDataClient, NoAnswerError, NotPaidError

payer = None
if os.environ.get("PAYER_KEY"):
    from eth_account import Account

    from market_data_alerts.pay import Payer

    payer = Payer(
        Account.from_key(os.environ["PAYER_KEY"]),
        max_per_call_usdc=float(os.environ["MAX_PER_CALL_USDC"]),
        total_usdc=float(os.environ["BUDGET_USDC"]),
    )

for line in sys.stdin:
    task = json.loads(line)
    client = MarketDataClient(task["base"], payer=payer, **task.get("options", {}))
    try:
        answer = getattr(client, task["call"])(**task["input"])
        said = {"answer": {"events": list(answer)} if isinstance(answer, Iterator) else answer}
    except (ApiError, NotPaidError, NoAnswerError) as error:
        said = {"error": type(error).__name__, "code": error.code, "status": getattr(error, "status", None)}
    print(json.dumps({**said, "spent": payer.spent_usdc if payer is not None else 0}), flush=True)
