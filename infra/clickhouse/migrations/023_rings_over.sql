-- What a row of `triggers` may be besides a ring, and an id of an alert besides that of its owner.

ALTER TABLE triggers
    COMMENT COLUMN alert_id 'The alert; of a rule for several symbols its part, whose owner''s id is what stands before the first point',
    COMMENT COLUMN trigger_id 'alert id and trigger count, for a test its request; with _over behind it what tells that this ring is over, which is no further one; the webhook-id of every attempt';
