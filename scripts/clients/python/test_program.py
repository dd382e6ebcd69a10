"""Calls the client as a test says: one JSON object a line in, one out. Not part of the package.

In: {"call", "input", "options": {"tries", "deadline_seconds"}, "base", "table"}; the key and the budget stand in the
environment. table: a history is told as what this method of it makes, or as its rows.
"""

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

from market_data_alerts import ApiError, History, MarketDataClient, NoAnswerError, NotPaidError

payer = None
if os.environ.get("PAYER_KEY"):
    from eth_account import Account

    from market_data_alerts.pay import Payer

    payer = Payer(
        Account.from_key(os.environ["PAYER_KEY"]),
        max_per_call_usdc=float(os.environ["MAX_PER_CALL_USDC"]),
        total_usdc=float(os.environ["BUDGET_USDC"]),
    )

def table_of(history: History[Any, Any], kind: str) -> dict[str, Any]:
    if kind == "rows":
        return {"rows": [*history.rows()]}
    table = getattr(history, kind)()
    if kind == "to_pandas":
        types = {name: str(of) for name, of in table.dtypes.items()}
        return {"types": types, "rows": json.loads(table.to_json(orient="records", date_format="iso"))}
    types = table.schema if kind == "to_polars" else {field.name: field.type for field in table.schema}
    rows = table.to_dicts() if kind == "to_polars" else table.to_pylist()
    shown = [{**row, "time": row["time"].isoformat(timespec="milliseconds")} for row in rows]
    return {"types": {name: str(of) for name, of in types.items()}, "rows": shown}


for line in sys.stdin:
    task = json.loads(line)
    client = MarketDataClient(task["base"], payer=payer, **task.get("options", {}))
    try:
        answer = getattr(client, task["call"])(**task["input"])
        if task.get("table"):
            answer = table_of(answer, task["table"])
        said = {"answer": {"events": list(answer)} if isinstance(answer, Iterator) else answer}
    except (ApiError, NotPaidError, NoAnswerError) as error:
        said = {"error": type(error).__name__, "code": error.code, "status": getattr(error, "status", None)}
    except (ValueError, ImportError) as error:
        said = {"error": str(error)}
    print(json.dumps({**said, "spent": payer.spent_usdc if payer is not None else 0}), flush=True)
