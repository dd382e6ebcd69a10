import { Registry } from 'prom-client'
import { readConfig } from '../../infra/config/config.ts'
import { loadCodec } from '../../infra/kafka/codec.ts'
import { connectLog } from '../../infra/kafka/kafkajs.ts'
import { runService } from '../../infra/lifecycle.ts'
import { startHost, hostSettings } from './host-socket.ts'

await runService({
  name: 'feeds',
  says: 'Streams trades of the venues into market.trades, repairs what the streams lose, and marks the time.',
  settings: [...hostSettings],
  start: async (log) => {
    const config = readConfig(process.env, hostSettings)
    const codec = await loadCodec(config.SCHEMA_REGISTRY_URL)
    const { KAFKA_BROKERS: brokers, NAMESPACE: namespace, FEED_NAME: clientId } = config
    const kafka = await connectLog({ brokers, namespace, clientId, log })
    const host = await startHost(config, { log, kafka, codec, metrics: new Registry() })
    return async () => {
      await host.stop()
      await kafka.close()
    }
  },
})
