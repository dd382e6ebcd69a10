import { hostClock } from '../../infra/clock.ts'
import { ConfigError, readConfig, type Config } from '../../infra/config/config.ts'
import { serviceSecrets, serviceSecretSettings } from '../../infra/config/secrets.ts'
import { furtherAuthority, mailServer, mailSettings, openMailer } from '../../infra/mail.ts'
import { runService } from '../../infra/lifecycle.ts'
import type { Logger } from '../../infra/log.ts'
import { connectHost, hostSettings } from '../host.ts'
import { reachOf } from './address.ts'
import { Caller, systemResolver } from './agent.ts'
import { channels } from './channels/channels.ts'
import { createSender, type Send } from './deliver.ts'
import { Dispatcher } from './dispatcher.ts'
import { createDeliveryMeter, exposeDispatcher } from './metrics.ts'
import { OWNER, TRIGGERS } from './task.ts'

const names = [
  ...hostSettings,
  'MODE',
  'PARTITIONS',
  ...serviceSecretSettings,
  'WEBHOOK_ALLOW_PRIVATE',
  'CHANNEL_BASES',
  ...mailSettings,
  'WEBHOOK_SLOTS',
  'WEBHOOK_SLOTS_PER_RECEIVER',
] as const

type Settings = Config<(typeof names)[number]>

await runService({
  name: 'webhooks',
  description: 'Delivers triggers to their webhooks: signed, retried, each receiver by itself.',
  settings: [...names, 'LOG_LEVEL', 'LOG_FORMAT'],
  start,
})

async function start(report: Logger): Promise<() => Promise<void>> {
  const config = readConfig(process.env, names)
  const send = await senderOf(config, report)
  const host = await connectHost('webhooks', config, report)
  const dispatcher = new Dispatcher({
    ...host,
    membership: await host.join(OWNER, [TRIGGERS], [...Array(config.PARTITIONS).keys()]),
    send,
    limits: { slots: config.WEBHOOK_SLOTS, perReceiver: config.WEBHOOK_SLOTS_PER_RECEIVER },
    deliveries: createDeliveryMeter(host.metrics),
  })
  exposeDispatcher(host.metrics, dispatcher, () => hostClock.now())
  const health = () => ({ ...dispatcher.health(), oldest_undelivered_ms: ageOf(dispatcher.oldest()) })
  return host.serve(dispatcher, health, {})
}

/** Age of the oldest undelivered trigger, milliseconds; 0: all are delivered. */
function ageOf(oldest: number | undefined): number {
  return oldest === undefined ? 0 : Math.max(0, Math.round(hostClock.now() - oldest / 1_000))
}

async function senderOf(config: Settings, report: Logger): Promise<Send> {
  const { MODE: mode, WEBHOOK_ALLOW_PRIVATE: allowPrivate } = config
  const ca = furtherAuthority(config, report)
  const server = mailServer(config)
  return createSender({
    secrets: serviceSecrets(config),
    mode,
    reach: reachOf({ mode, allowPrivate }),
    bases: basesOf(config.CHANNEL_BASES),
    resolve: systemResolver(),
    caller: new Caller(ca),
    mailer: server && (await openMailer({ ...server, ca })),
    now: () => hostClock.now(),
  })
}

/** By channel, the address that stands in for its vendor's. */
function basesOf(entries: readonly string[]): ReadonlyMap<string, URL> {
  const bases = entries.map((entry): [string, URL] => {
    const [, type = '', base = ''] = /^(\w+)=(https:\/\/.+)$/.exec(entry) ?? []
    if (!channels.some(({ name }) => name === type) || !URL.canParse(base))
      throw new ConfigError(`CHANNEL_BASES: ${entry} must be a type and an HTTPS URL, as slack=https://localhost:4443`)
    return [type, new URL(base)]
  })
  return new Map(bases)
}
