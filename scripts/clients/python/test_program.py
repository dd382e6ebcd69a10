"""Calls the client as a test says: one JSON object a line in, one out. Not part of the package.

In: {"call", "input", "options": {"tries", "deadline_seconds"}, "base", "table", "is_async", "events",
"hands_back", "asks_again", "gives_up"}; the key and the budget stand in the environment, or SIGNS, for payments that are none. hands_back: what of the
last error is input of the call. null in an input: NULL. asks_again: a history whose page fails is asked once more. gives_up: its await is
cancelled once the server answers healthz, and made again before healthz is asked once more. table: a history is told as what this method of it makes, or as its rows; events: of a stream so
many are heard, then it is left.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, suppress
from itertools import islice
from typing import Any

from market_data_alerts import AsyncHistory, AsyncMarketDataClient, MarketDataClient
from market_data_alerts import NULL, CallError, NotPaidError, Payment

payer = None
if os.environ.get("PAYER_KEY"):
    from eth_account import Account

    from market_data_alerts.pay import Payer

    payer = Payer(
        Account.from_key(os.environ["PAYER_KEY"]),
        max_per_call_usdc=float(os.environ["MAX_PER_CALL_USDC"]),
        total_usdc=float(os.environ["BUDGET_USDC"]),
    )


elif os.environ.get("SIGNS"):

    class Signs:
        """Signs one payment after the other."""

        spent_usdc = 0

        def pay(self, headers: Any, body: Any) -> Payment:
            self.spent_usdc += 1
            return Payment({"payment-signature": f"signed {self.spent_usdc}"}, 1)

    payer = Signs()


def now(task: dict[str, Any]) -> Any:
    client = MarketDataClient(task["base"], payer=payer, **task.get("options", {}))
    answer = getattr(client, task["call"])(**task["input"])
    if isinstance(answer, Iterator):
        return {"events": [*islice(answer, task.get("events"))]}
    if task.get("table") is None:
        return answer
    if task.get("asks_again"):
        with suppress(CallError):
            [*answer.rows()]
    return told(task["table"], {"rows": [*answer.rows()]} if task["table"] == "rows" else getattr(answer, task["table"])())


async def later(task: dict[str, Any]) -> Any:
    async with AsyncMarketDataClient(task["base"], payer=payer, **task.get("options", {})) as client:
        answer = getattr(client, task["call"])(**task["input"])
        if isinstance(answer, AsyncIterator):
            async with aclosing(answer) as events:
                return {"events": await heard(events, task.get("events"))}
        kind = task.get("table")
        if not isinstance(answer, AsyncHistory) or kind is None:
            return await answer
        if task.get("asks_again"):
            with suppress(CallError):
                await answer
        if task.get("gives_up"):
            first = asyncio.ensure_future(answer)
            await client.healthz()
            first.cancel()
            second = asyncio.ensure_future(answer)
            await client.healthz()
            await second
        return told(kind, {"rows": [*(await answer).rows()]} if kind == "rows" else await getattr(answer, kind)())


async def heard(events: AsyncIterator[Any], count: int | None) -> list[Any]:
    all: list[Any] = []
    async for event in events:
        all.append(event)
        if len(all) == count:
            break
    return all


def told(kind: str, table: Any) -> dict[str, Any]:
    if kind == "rows":
        return table
    if kind == "to_pandas":
        types = {name: str(of) for name, of in table.dtypes.items()}
        return {"types": types, "rows": json.loads(table.to_json(orient="records", date_format="iso"))}
    types = table.schema if kind == "to_polars" else {field.name: field.type for field in table.schema}
    rows = table.to_dicts() if kind == "to_polars" else table.to_pylist()
    shown = [{**row, "time": row["time"].isoformat(timespec="milliseconds")} for row in rows]
    return {"types": {name: str(of) for name, of in types.items()}, "rows": shown}


last: Any = None
for line in sys.stdin:
    task = json.loads(line)
    task["input"] = {name: NULL if value is None else value for name, value in task["input"].items()}
    if "hands_back" in task:
        task["input"][task["hands_back"]] = getattr(last, task["hands_back"])
    try:
        said = {"answer": asyncio.run(later(task)) if task.get("is_async") else now(task)}
    except (CallError, NotPaidError) as error:
        last = error
        said = {"error": type(error).__name__, "code": error.code, "status": getattr(error, "status", None)}
        said["text"] = str(error)
        payment = getattr(error, "payment", None)
        said["paid"] = None if payment is None else payment.headers.get("payment-signature")
    except (ValueError, ImportError) as error:
        said = {"error": str(error)}
    print(json.dumps({**said, "spent": payer.spent_usdc if payer is not None else 0}), flush=True)
