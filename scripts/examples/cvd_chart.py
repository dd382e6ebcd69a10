# %% [markdown]
# Price against CVD, signals and where they led: a notebook as a script. Open it as one (VS Code, Jupytext), or run it:
#
#     pip install clickhouse-connect matplotlib
#     python scripts/examples/cvd_chart.py --asset btc --hours 6 --out cvd.png
#
# It reads as `analyst`, who can write nothing. Every query is a file of infra/clickhouse/queries.

# %%
import argparse
import datetime as dt
import importlib.util
import pathlib
import sys

missing = [name for name in ("clickhouse_connect", "matplotlib") if importlib.util.find_spec(name) is None]
if missing:
    print(f"skipped: install {' and '.join(name.replace('_', '-') for name in missing)} first (pip install clickhouse-connect matplotlib)")
    sys.exit(3)

import clickhouse_connect  # noqa: E402
import matplotlib  # noqa: E402

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

# %%
now = dt.datetime.now(dt.timezone.utc).replace(tzinfo=None)
parser = argparse.ArgumentParser(description="Draws price, CVD (counted from the start) and signals of an asset as PNG or SVG.")
parser.add_argument("--host", default="127.0.0.1")
parser.add_argument("--port", type=int, default=8123)
parser.add_argument("--user", default="analyst")
parser.add_argument("--password", default="")
parser.add_argument("--database", default="market")
parser.add_argument("--asset", default="btc")
parser.add_argument("--venue", default="binance")
parser.add_argument("--seconds", type=int, default=60, help="length of an interval")
parser.add_argument("--hours", type=float, default=1, help="how far it looks back from --end")
parser.add_argument("--start", type=dt.datetime.fromisoformat, help="UTC")
parser.add_argument("--end", type=dt.datetime.fromisoformat, default=now, help="UTC")
parser.add_argument("--out", default="cvd.png", help="a file ending in .png or .svg")
given = parser.parse_args()
start = given.start or given.end - dt.timedelta(hours=given.hours)

# %%
queries = pathlib.Path(__file__).resolve().parents[2] / "infra" / "clickhouse" / "queries"
client = clickhouse_connect.get_client(
    host=given.host, port=given.port, username=given.user, password=given.password, database=given.database
)


def ask(name, **more):
    """The rows of a worked query as dictionaries."""
    parameters = {"asset": given.asset, "start": f"{start:%F %T}", "end": f"{given.end:%F %T}", **more}
    text = (queries / f"{name}.sql").read_text()
    return list(client.query(text, parameters=parameters).named_results())


# %%
flow = ask("02_cvd_against_price", venue=given.venue, seconds=given.seconds)
hits = ask("07_signal_hit_rate", horizon=given.seconds)
for row in hits:
    print(f"{row['kind']} {row['period']} {row['class']}: {row['signals']} signals, {100 * row['hit_rate']:.0f} % right, mean {row['mean_return_bp']:.1f} bp")

# %%
figure, price = plt.subplots(figsize=(11, 5))
times = [row["time"] for row in flow]
price.plot(times, [row["close"] for row in flow], color="tab:blue", label=f"price at {given.venue}")
cvd = price.twinx()
cvd.plot(times, [row["cvd"] for row in flow], color="tab:red", label="CVD, base units")
for row in flow:
    if row["divergence"]:
        price.axvline(row["time"], color="0.8", linewidth=0.8, zorder=0)
price.set_title(f"{given.asset.upper()}: price and CVD; grey where they part")
price.set_ylabel("price")
cvd.set_ylabel("CVD, base units")
figure.legend(loc="upper left")
figure.autofmt_xdate()
figure.savefig(given.out, dpi=120)
print(f"{len(flow)} intervals drawn into {given.out}")
