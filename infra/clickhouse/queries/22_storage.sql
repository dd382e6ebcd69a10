-- Question: what does it all weigh?
-- A row: a base table, the largest first.
-- Units: bytes on disk, bytes a row with all columns, raw is what a row takes uncompressed.
-- Parameters: none
SELECT
    table,
    sum(rows) AS all_rows,
    sum(bytes_on_disk) AS bytes,
    bytes / all_rows AS bytes_a_row,
    sum(data_uncompressed_bytes) / all_rows AS raw_bytes_a_row
FROM system.parts
WHERE database = currentDatabase() AND active
GROUP BY table
ORDER BY bytes DESC, table
