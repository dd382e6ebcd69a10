"""A receiver written from the specification alone: verifies a webhook's two signatures with Python's own library.

Reads one JSON object a line: {"secret", "headers": {...}, "body": base64}; writes {"svc", "standard"} a line.
"""

import base64
import hashlib
import hmac
import json
import sys


def svc(secret, headers, body):
    """X-SVC-Signature: sha256=<hex>; the key is the whole secret's text as UTF-8, the message the raw body."""
    expected = hmac.new(secret.encode("utf-8"), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest("sha256=" + expected, headers["x-svc-signature"])


def standard(secret, headers, body):
    """webhook-signature: v1,<base64> of id.timestamp.body; the key is the secret's base64 part, decoded."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = b".".join([headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body])
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest(expected, given) for given in headers["webhook-signature"].split(" "))


for line in sys.stdin:
    message = json.loads(line)
    body = base64.b64decode(message["body"])
    arguments = (message["secret"], message["headers"], body)
    print(json.dumps({"svc": svc(*arguments), "standard": standard(*arguments)}), flush=True)
