import { beforeAll, describe, expect, inject, it } from 'vitest'
import kafkajs from 'kafkajs'
import { mapHash } from '../../schemas/catalogue.ts'
import type { Layout } from '../../schemas/records.ts'
import { topics } from '../../schemas/topics.ts'
import { loadCodec, type RegistryCodec } from './codec.ts'
import { connectLog } from './kafkajs.ts'
import type { Log } from './seam.ts'
import { prepareTopics, type PrepareOptions } from './setup.ts'
import { createTestTopics, freshNamespace, withAdmin } from './testing/topics.ts'

const { brokers, registryUrl } = inject('parts')

describe('preparing the topics', () => {
  let codec: RegistryCodec
  beforeAll(async () => {
    codec = await loadCodec(registryUrl)
  })

  const fresh = async (change: Partial<PrepareOptions> = {}): Promise<PrepareOptions & { log: Log }> => {
    const namespace = freshNamespace()
    const log = await connectLog({ brokers, namespace, clientId: 'test' })
    const sizes = { partitions: 3, replicationFactor: 1, retentionBytes: 3_000_000_000 }
    return { brokers, namespace, log, codec, ...sizes, ...change }
  }

  it('makes every topic of the table with its partitions and settings, once', async () => {
    const options = await fresh()
    const layout = await prepareTopics(options)
    expect(await prepareTopics(options)).toEqual(layout)
    expect(layout).toMatchObject({ version: 1, partitions: 3, map: mapHash() })
    const names = topics.map(({ name }) => options.namespace + name)
    const metadata = await withAdmin(brokers, (admin) => admin.fetchTopicMetadata({ topics: names }))
    const counts = Object.fromEntries(metadata.topics.map(({ name, partitions }) => [name, partitions.length]))
    expect(counts).toEqual(
      Object.fromEntries(
        topics.map(({ name, partitions }) => [options.namespace + name, partitions === 'one' ? 1 : 3]),
      ),
    )
    expect(await settings(`${options.namespace}market.trades`)).toMatchObject({
      'cleanup.policy': 'delete',
      'retention.ms': '-1',
      'retention.bytes': '1000000000',
      'message.timestamp.type': 'CreateTime',
    })
    expect(await settings(`${options.namespace}derived.signals`)).toMatchObject({
      'cleanup.policy': 'delete',
      'retention.bytes': '-1',
    })
    expect(await settings(`${options.namespace}derived.flow`)).toMatchObject({ 'cleanup.policy': 'compact' })
    await options.log.close()
  })

  it('lets two starts at once agree on one log', async () => {
    const options = await fresh()
    await prepareTopics(options)
    const other = await connectLog({ brokers, namespace: options.namespace, clientId: 'other' })
    const layouts = await Promise.all([prepareTopics(options), prepareTopics({ ...options, log: other })])
    expect(layouts[0]).toEqual(layouts[1])
    await Promise.all([options.log.close(), other.close()])
  })

  it('carries a size limit over that was set anew', async () => {
    const options = await fresh()
    await prepareTopics(options)
    await prepareTopics({ ...options, retentionBytes: 6_000_000_000 })
    const name = `${options.namespace}market.trades`
    // The broker tells a new setting some time after it took it.
    await expect.poll(() => settings(name)).toMatchObject({ 'retention.bytes': '2000000000', 'retention.ms': '-1' })
    await options.log.close()
  })

  it('keeps tombstones for a day where a topic is followed, of an older release’s topics as well', async () => {
    const options = await fresh()
    await prepareTopics(options)
    const followed = `${options.namespace}alerts.state`
    expect(await settings(followed)).toMatchObject({ 'delete.retention.ms': '86400000' })
    expect(await settings(`${options.namespace}state.cvd`)).toMatchObject({ 'delete.retention.ms': '600000' })
    const old = { 'cleanup.policy': 'compact', 'delete.retention.ms': '60000' }
    await set(followed, old)
    await expect.poll(() => settings(followed)).toMatchObject(old)
    await prepareTopics(options)
    await expect.poll(() => settings(followed)).toMatchObject({ ...old, 'delete.retention.ms': '86400000' })
    await options.log.close()
  })

  it('takes the limit by age from a topic that somebody made, of any kind', async () => {
    const options = await fresh()
    await prepareTopics(options)
    const names = ['payments.events', 'alerts.events', 'market.trades'].map((name) => options.namespace + name)
    const foreign = { 'retention.ms': '604800000', 'message.timestamp.type': 'LogAppendTime' }
    for (const name of names) await set(name, foreign)
    for (const name of names) await expect.poll(() => settings(name)).toMatchObject(foreign)
    await prepareTopics(options)
    const ours = { 'retention.ms': '-1', 'message.timestamp.type': 'CreateTime' }
    for (const name of names) await expect.poll(() => settings(name)).toMatchObject(ours)
    await options.log.close()
  })

  it('refuses another partition count and says what to set', async () => {
    const options = await fresh()
    await prepareTopics(options)
    const refused = prepareTopics({ ...options, partitions: 6 })
    await expect(refused).rejects.toMatchObject({ code: 'partitions' })
    await expect(refused).rejects.toThrow('set PARTITIONS=3')
    await options.log.close()
  })

  it('refuses a log of newer code', async () => {
    const options = await fresh()
    const layout = await prepareTopics(options)
    await write(options, { ...layout, version: 2 })
    await expect(prepareTopics(options)).rejects.toMatchObject({ code: 'newer' })
    await options.log.close()
  })

  it('refuses a log that was written with another asset map', async () => {
    const options = await fresh()
    const layout = await prepareTopics(options)
    await write(options, { ...layout, map: '0123456789abcdef' })
    await expect(prepareTopics(options)).rejects.toMatchObject({ code: 'map' })
    await options.log.close()
  })

  it('refuses a topic that somebody made with other partitions', async () => {
    const options = await fresh()
    await createTestTopics(brokers, [`${options.namespace}market.instruments`])
    const refused = prepareTopics(options)
    await expect(refused).rejects.toMatchObject({ code: 'topic' })
    await expect(refused).rejects.toThrow('has partitions 3, this release needs 1')
    await options.log.close()
  })

  it('refuses topics with fewer replicas than are set, and says what gives them more', async () => {
    const options = await fresh()
    await prepareTopics(options)
    const refused = prepareTopics({ ...options, replicationFactor: 3 })
    await expect(refused).rejects.toMatchObject({ code: 'topic' })
    await expect(refused).rejects.toThrow(
      /market\.trades.* fewer replicas than REPLICATION_FACTOR=3: .*kafka-reassign-partitions/,
    )
    await options.log.close()
  })
})

async function write({ log, codec }: PrepareOptions, layout: Layout): Promise<void> {
  const value = codec.encode('control.layout', 'layout', layout)
  await log.writer().send('control.layout', 0, [{ key: 'layout', value, time: 0 }])
}

async function set(topic: string, to: Readonly<Record<string, string>>): Promise<void> {
  const configEntries = Object.entries(to).map(([name, value]) => ({ name, value }))
  const resources = [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configEntries }]
  await withAdmin(brokers, (admin) => admin.alterConfigs({ validateOnly: false, resources }))
}

async function settings(topic: string): Promise<Record<string, string>> {
  const { resources } = await withAdmin(brokers, (admin) =>
    admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic }],
    }),
  )
  return Object.fromEntries((resources[0]?.configEntries ?? []).map((entry) => [entry.configName, entry.configValue]))
}
