import base64
import hashlib
import hmac
import re
from collections.abc import Mapping

TOLERANCE_SECONDS = 300


def verify_svc(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    """X-SVC-Signature: sha256=<hex> over the raw body; the key is the whole webhook_secret.

    headers: names in lower case; body: the bytes as they came, before any parsing.
    """
    expected = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(headers.get("x-svc-signature", "").encode(), expected.encode())


def verify_standard(secret: str, headers: Mapping[str, str], body: bytes, now: float) -> bool:
    """Standard Webhooks: v1,<base64> over id.timestamp.body; the key is what follows whsec_, decoded."""
    webhook_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not webhook_id or not re.fullmatch(r"[0-9]{1,12}", timestamp):
        return False
    if abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{webhook_id}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    # There may be several, separated by blanks, while a secret is being replaced.
    given = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(one.encode(), expected.encode()) for one in given)
