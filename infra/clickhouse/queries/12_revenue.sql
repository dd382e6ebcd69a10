-- Question: what did each route earn on each day?
-- A row: a day and a route, settled payments only, by chain: 8453 is money, 84532 is test or play money.
-- Units: USD; payments and payers in number; days are UTC, from the one that start lies in to the last that begins before end.
-- Parameters: start, end
SELECT day, chain_id, method, route, sum(revenue.payments) AS payments, sum(revenue.payers) AS payers, sum(usd) AS earned_usd
FROM revenue
WHERE day >= toDate({start:DateTime64(6, 'UTC')}) AND day < {end:DateTime64(6, 'UTC')}
GROUP BY day, chain_id, method, route
ORDER BY day, earned_usd DESC, route
