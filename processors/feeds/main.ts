import { processMetrics } from '../../infra/http/ops.ts'
import { loadCodec } from '../../infra/kafka/codec.ts'
import { connectLog } from '../../infra/kafka/kafkajs.ts'
import { membershipOf } from '../../infra/kafka/membership.ts'
import type { Membership } from '../../infra/kafka/seam.ts'
import { runService, sayReady } from '../../infra/lifecycle.ts'
import type { Logger } from '../../infra/log.ts'
import { venueNames } from '../../schemas/venues.ts'
import { venueNumber } from './runtime/feeds.ts'
import { hostSettings, readHostConfig, type HostConfig } from './runtime/host-settings.ts'
import { Host } from './runtime/host.ts'

await runService({
  name: 'feeds',
  description:
    'Brings what venues say (trades, prices, funding, liquidations) into market.*, repairs trades, marks the time.',
  settings: hostSettings,
  start: async (log) => {
    const config = readHostConfig(process.env)
    const codec = await loadCodec(config.SCHEMA_REGISTRY_URL, log)
    const { KAFKA_BROKERS: brokers, NAMESPACE: namespace, FEED_NAME: clientId } = config
    const kafka = await connectLog({ brokers, namespace, clientId, log })
    const membership = await join(config, log)
    const metrics = processMetrics()
    const host = new Host(config, { log, kafka, codec, membership, metrics })
    const { url, stop } = await host.start()
    sayReady(url)
    log.info({ url, venues: config.VENUES }, 'feeds are up')
    return async () => {
      await stop()
      await kafka.close()
    }
  },
})

/** Who repairs which venue: this process all of its own, or a consumer group in which a venue's number is a partition. */
function join(config: HostConfig, log: Logger): Promise<Membership> {
  const { MEMBERSHIP, VENUES, PARTITIONS, KAFKA_BROKERS: brokers, NAMESPACE: namespace, FEED_NAME: clientId } = config
  const own = venueNames.filter((name) => VENUES.includes(name))
  const takes = own.map((name) => venueNumber(name, PARTITIONS))
  const onCrash = (error: Error): void => {
    log.fatal({ err: error }, 'the consumer group is lost')
    process.exit(1)
  }
  const group = { group: 'feeds', topics: ['market.trades'], takes, onCrash }
  return membershipOf(MEMBERSHIP, takes, { brokers, namespace, clientId, log, ...group })
}
