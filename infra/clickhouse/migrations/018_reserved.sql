-- Requests that are charged to an API key reserve their purchase in the log of payments: no money moves, and it is no revenue.

ALTER TABLE payment_intents
    COMMENT COLUMN payment_id 'chain id:asset:payer:nonce of the authorization, lower case; credit:purchase of one that is charged to an API key',
    COMMENT COLUMN version 'Version of the payment protocol: 1 or 2; 0: it is charged to an API key';

ALTER TABLE payment_events
    COMMENT COLUMN payment_id 'chain id:asset:payer:nonce of the authorization, lower case; credit:purchase of one that is charged to an API key',
    COMMENT COLUMN event 'broadcast, pending, settled, failed, conflict; reserved: charged to an API key, no payment';

ALTER TABLE payments
    COMMENT COLUMN payment_id 'chain id:asset:payer:nonce of the authorization, lower case; credit:purchase of one that is charged to an API key',
    COMMENT COLUMN chain_id '8453 Base, 84532 Base Sepolia or the local chain; 0: charged to an API key',
    COMMENT COLUMN state 'What it has come to: broadcast, pending, settled, failed; reserved: charged to an API key, no payment';
