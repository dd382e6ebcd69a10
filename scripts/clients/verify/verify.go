package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

const tolerance = 5 * time.Minute

// VerifySvc checks X-SVC-Signature: sha256=<hex> over the raw body; the key is the whole webhook_secret.
// headers: of a net/http request, r.Header.Get; body: the bytes as they came, before any parsing.
func VerifySvc(secret string, headers func(string) string, body []byte) bool {
	expected := "sha256=" + hex.EncodeToString(sum([]byte(secret), body))
	return hmac.Equal([]byte(headers("X-SVC-Signature")), []byte(expected))
}

// VerifyStandard checks Standard Webhooks: v1,<base64> over id.timestamp.body; the key is what follows whsec_, decoded.
func VerifyStandard(secret string, headers func(string) string, body []byte, now time.Time) bool {
	id, timestamp := headers("webhook-id"), headers("webhook-timestamp")
	seconds, err := strconv.ParseUint(timestamp, 10, 40)
	if id == "" || err != nil || now.Sub(time.Unix(int64(seconds), 0)).Abs() > tolerance {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	signed := append([]byte(id+"."+timestamp+"."), body...)
	expected := "v1," + base64.StdEncoding.EncodeToString(sum(key, signed))
	// There may be several, separated by blanks, while a secret is being replaced.
	for _, given := range strings.Split(headers("webhook-signature"), " ") {
		if hmac.Equal([]byte(given), []byte(expected)) {
			return true
		}
	}
	return false
}

func sum(key, message []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(message)
	return mac.Sum(nil)
}
