"""One case a line, separated by tabs: secret, id, timestamp, signature, svc, now, body in base64. Says what is right."""

import base64
import sys

from verify import verify_standard, verify_svc

for line in sys.stdin:
    secret, webhook_id, timestamp, signature, svc, now, body = line.rstrip("\n").split("\t")
    headers = {
        "webhook-id": webhook_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": signature,
        "x-svc-signature": svc,
    }
    raw = base64.b64decode(body)
    results = verify_svc(secret, headers, raw), verify_standard(secret, headers, raw, float(now))
    print(*(str(result).lower() for result in results), flush=True)
