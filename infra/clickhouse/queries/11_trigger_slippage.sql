-- Question: who acts on a webhook a while after it rang, at what price do they arrive?
-- A row: a price alert's trigger, newest first, tests and late ones left out.
-- Units: basis points in the alert's direction. overshoot_bp: how far beyond its target it rang; slippage_bp: how far the
-- composite price had gone on (negative: come back) `horizon` seconds later; null: no price within a minute of then.
-- Parameters: asset, horizon, start, end
WITH
    rung AS
    (
        SELECT *, if(condition IN ('above', 'crosses_above'), 1, -1) AS direction, time + toIntervalSecond({horizon:UInt32}) AS later
        FROM triggers
        WHERE kind = 'price' AND asset = {asset:String} AND NOT test AND NOT late
            AND time >= {start:DateTime64(6, 'UTC')} AND time < {end:DateTime64(6, 'UTC')}
    ),
    quoted AS
    (
        SELECT asset, time, toNullable(price) AS price
        FROM prices
        WHERE asset = {asset:String} AND NOT late AND time >= {start:DateTime64(6, 'UTC')}
            AND time < {end:DateTime64(6, 'UTC')} + toIntervalSecond({horizon:UInt32}) + INTERVAL 1 MINUTE
    )
SELECT
    rung.time AS time,
    rung.trigger_id AS trigger_id,
    rung.condition AS condition,
    rung.target_price AS target_price,
    rung.current_price AS price,
    10000 * direction * (current_price / target_price - 1) AS overshoot_bp,
    10000 * direction * (if(quoted.time <= later + INTERVAL 1 MINUTE, quoted.price, NULL) / current_price - 1) AS slippage_bp
FROM rung
ASOF LEFT JOIN quoted ON quoted.asset = rung.asset AND rung.later <= quoted.time
ORDER BY time DESC, trigger_id
