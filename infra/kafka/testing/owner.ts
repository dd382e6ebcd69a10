import { setTimeout as delay } from 'node:timers/promises'
import { sayReady } from '../../lifecycle.ts'
import { connectLog } from '../kafkajs.ts'

const WRITE_EVERY_MS = 500

/** A program for tests: claims a partition and writes 0, 1, 2, .. to it until it is refused; then it says why. */
const [broker = '', namespace = ''] = process.argv.slice(2)
const log = await connectLog({ brokers: [broker], namespace, clientId: 'owner', claims: true })
const claim = await log.claim('owner-0', [{ topic: 'out', partition: 0 }])
try {
  for (let number = 0; ; number += 1) {
    await claim.send('out', 0, [{ key: null, value: Buffer.from(`${number}`), time: Date.now() }])
    if (number === 0) sayReady(`${broker}/out`)
    await delay(WRITE_EVERY_MS)
  }
} catch (error) {
  console.log((error as { code?: string }).code)
}
await log.close()
process.exit()
