import { verdictOf } from './codes.ts'
import { apis, Encoder, Link } from './internals.ts'

const PROBE_MS = 3_000
const GROUP = 0
const TRANSACTION = 1

/**
 * Whether a broker at `address` (host:port) can be worked with: it answers, and has coordinators for groups and for
 * claims, whose topics it makes at the first question for them. Never throws.
 */
export async function brokerAnswers(address: string): Promise<boolean> {
  const link = new Link({ brokers: [address], clientId: 'probe' })
  const asked = Promise.all([hasCoordinator(link, GROUP), hasCoordinator(link, TRANSACTION)])
    .then((found) => found.every(Boolean))
    .catch(() => false)
  const late = new Promise<false>((resolve) => {
    setTimeout(() => resolve(false), PROBE_MS).unref()
  })
  const answer = await Promise.race([asked, late])
  void asked.then(() => link.close()).catch(() => undefined) // whatever it was, it was only a look
  return answer
}

async function hasCoordinator(link: Link, type: number): Promise<boolean> {
  const body = new Encoder().writeString('probe').writeInt8(type)
  const answer = await link.call('any', { key: apis.findCoordinator, version: 1, name: 'FindCoordinator', body })
  answer.forward(4) // throttle time
  return verdictOf(answer.readInt16()) === 'ok'
}
