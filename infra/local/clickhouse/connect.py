"""Judges the server with clickhouse-connect, unchanged: prints one JSON object of what it saw. Run by python.real.test.ts."""

import json
import sys

import clickhouse_connect

host, port = sys.argv[1], int(sys.argv[2])
database = sys.argv[3]
own_password = sys.argv[4]
seen = {}

client = clickhouse_connect.get_client(host=host, port=port, database=database, password=own_password)
seen["ping"] = client.ping()
client.command("CREATE TABLE IF NOT EXISTS py (n UInt64, s String, f Nullable(Float64)) ENGINE = MergeTree ORDER BY n")
rows = [[n, f"row {n}", None if n % 3 == 0 else n / 4] for n in range(60_000)]
for codec in (True, "lz4", "zstd", "gzip", False):
    client.command("TRUNCATE TABLE py")
    try:
        own = clickhouse_connect.get_client(host=host, port=port, database=database, password=own_password, compress=codec)
    except Exception as error:  # a codec whose Python package is not installed
        seen[f"codec {codec}"] = str(error)
        continue
    own.insert("py", rows, column_names=["n", "s", "f"])
    result = own.query("SELECT count(), sum(n), sum(f), any(s) FROM py WHERE n < {limit:UInt64}", parameters={"limit": 60_000})
    seen[f"codec {codec}"] = [result.result_rows[0][0], result.result_rows[0][1], result.result_rows[0][2]]
    own.close()
with client.query_row_block_stream("SELECT number FROM numbers(300000)") as stream:
    seen["stream"] = sum(sum(row[0] for row in block) for block in stream)
try:
    client.query("SELECT * FROM nothing_here")
except clickhouse_connect.driver.exceptions.DatabaseError as error:
    seen["error"] = "UNKNOWN_TABLE" in str(error)
reader = clickhouse_connect.get_client(host=host, port=port, database=database, username="analyst")
seen["reader"] = reader.query("SELECT count() FROM py").result_rows[0][0]
try:
    reader.command("DROP TABLE py")
except clickhouse_connect.driver.exceptions.DatabaseError as error:
    seen["reader drop"] = "READONLY" in str(error)
client.command("DROP TABLE py")
print(json.dumps(seen))
