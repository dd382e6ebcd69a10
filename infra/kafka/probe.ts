import { Kafka } from 'kafkajs'
import './patch.ts'
import { quietLog } from './quiet-log.ts'

const PROBE_MS = 2_000

/** Whether a broker at `address` (host:port) answers requests; never throws. */
export async function brokerAnswers(address: string): Promise<boolean> {
  const kafka = new Kafka({
    brokers: [address],
    clientId: 'probe',
    connectionTimeout: PROBE_MS,
    requestTimeout: PROBE_MS,
    retry: { retries: 0 },
    logCreator: quietLog(undefined),
  })
  const admin = kafka.admin()
  try {
    await admin.connect()
    return (await admin.describeCluster()).brokers.length > 0
  } catch {
    return false
  } finally {
    await admin.disconnect().catch(() => undefined)
  }
}
