/**
 * Golden vectors of both signatures, as `api/docs/guides/webhooks.md` publishes them: whoever writes a receiver can check it
 * against these. The first is Standard Webhooks' own; the second is a webhook of ours with characters beyond ASCII.
 */
export const vectors = [
  {
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1_614_265_330,
    body: '{"test": 2432232314}',
    standard: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    svc: 'sha256=80ec8a89ce3cd22133a1066caecb4d04fea7467657c8514d717ec42c38a5c94c',
  },
  {
    secret: 'whsec_Z29sZGVuLXZlY3Rvci1vZi10aGUtd2ViaG9va3MhISE=',
    id: 'alert_btc_1786060800_1_1',
    timestamp: 1_786_060_801,
    body: '{"event":"price_alert","alert_id":"alert_btc_1786060800_1","symbol":"BTC","data":{"condition_met":"über 70 000 €"}}',
    standard: 'v1,O76G+7R2eiWggyoFdZ1uyx0kqZVTuXNRgFz141/w3lQ=',
    svc: 'sha256=a97d52dfd87c472736f2d6fde4e38c8fa4c99a0ac1158df45a27fde23fd5c5ba',
  },
] as const
