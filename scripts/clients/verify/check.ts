import { createInterface } from 'node:readline'
import { verifyStandard, verifySvc } from '../typescript/src/verify.ts'

// One case a line, separated by tabs: secret, id, timestamp, signature, svc, now, body in base64. Says what is right.
for await (const line of createInterface({ input: process.stdin })) {
  const [secret = '', id, timestamp, signature, svc, now, body = ''] = line.split('\t')
  const given = new Map(
    Object.entries({
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signature,
      'x-svc-signature': svc,
    }),
  )
  const raw = Buffer.from(body, 'base64')
  const headers = (name: string): string | undefined => given.get(name)
  console.log(`${verifySvc(secret, headers, raw)} ${verifyStandard(secret, headers, raw, Number(now))}`)
}
