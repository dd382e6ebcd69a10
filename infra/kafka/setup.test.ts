import { describe, expect, it } from 'vitest'
import { knownAssets, mapHash } from '../../schemas/catalogue.ts'
import { topicOf, topics } from '../../schemas/topics.ts'
import { checkLayout, LAYOUT_VERSION } from './setup.ts'
import { settingsOf } from './topic-settings.ts'

const layout = { log: 'a-log', version: LAYOUT_VERSION, partitions: 12, map: mapHash(), created: 0 }
const sizes = { partitions: 12, replicationFactor: 1, retentionBytes: 12_000 }

describe('the layout of a log', () => {
  it('is taken when it is ours', () => {
    expect(() => checkLayout(layout, 12)).not.toThrow()
  })

  it('is refused when it places assets by another map', () => {
    const map = mapHash(knownAssets.toReversed())
    expect(() => checkLayout({ ...layout, map }, 12)).toThrow('another asset map')
  })

  it('is refused with other partitions, and with a newer version', () => {
    expect(() => checkLayout(layout, 6)).toThrow('created with 12 partitions, PARTITIONS is 6; set PARTITIONS=12')
    expect(() => checkLayout({ ...layout, version: LAYOUT_VERSION + 1 }, 12)).toThrow('run the newer release')
  })
})

describe('the settings of topics', () => {
  it('limit no topic by age, whatever its kind', () => {
    expect(topics.map((topic) => settingsOf(topic, sizes)['retention.ms'])).toEqual(topics.map(() => '-1'))
  })

  it('limit facts by size per partition, and nothing else', () => {
    expect(settingsOf(topicOf('market.trades'), sizes)['retention.bytes']).toBe('1000')
    expect(settingsOf(topicOf('derived.signals'), sizes)['retention.bytes']).toBe('-1')
    expect(settingsOf(topicOf('alerts.inputs'), sizes)['retention.bytes']).toBe('-1') // it holds commands
    expect(settingsOf(topicOf('derived.flow'), sizes)['retention.bytes']).toBe('-1')
  })

  it('never compact what is read as a sequence', () => {
    for (const topic of topics) {
      const compacted = topic.kind === 'upsert' || topic.kind === 'cache'
      expect(settingsOf(topic, sizes)['cleanup.policy']).toBe(compacted ? 'compact' : 'delete')
    }
  })

  it('have segments that hold the largest batch: the broker refuses a batch larger than a segment', () => {
    for (const topic of topics) {
      const settings = settingsOf(topic, sizes)
      expect(Number(settings['segment.bytes'])).toBeGreaterThan(Number(settings['max.message.bytes']))
    }
  })
})
