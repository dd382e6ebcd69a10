import { describe, expect, it } from 'vitest'
import { Random } from '../../infra/local/venues/random.ts'
import { actionText, round } from './schedule.ts'

describe('a round of chaos', () => {
  it('is the same for the same seed and another for another', () => {
    expect(round(new Random(1))).toEqual(round(new Random(1)))
    expect(round(new Random(1)).map(actionText)).not.toEqual(round(new Random(2)).map(actionText))
  })

  it('kills each service, freezes what owns partitions, holds broker and ClickHouse down, has a clock lie and every kind of fault', () => {
    const texts = round(new Random(3)).map((action) => actionText(action).replace(/ on \w+$/, ''))
    expect(texts.sort()).toEqual([
      'broker down for 30 s',
      'clickhouse down for 30 s',
      'clock of feeds 55 minutes ahead for 20 s',
      'fault closing',
      'fault disconnect',
      'fault doubled',
      'fault lost',
      'fault malformed',
      'fault reordered',
      'fault rest_429',
      'fault silence',
      'fault slow_rest',
      'freeze processors for 8 s',
      'freeze webhooks for 8 s',
      'kill -9 api',
      'kill -9 broker',
      'kill -9 clickhouse',
      'kill -9 feeds',
      'kill -9 processors',
      'kill -9 registry',
      'kill -9 webhooks',
    ])
  })

  it('kills and freezes the settling where payments are taken, and never the chain', () => {
    const texts = round(new Random(3), true).map(actionText)
    expect(texts.filter((text) => text.includes('payments')).sort()).toEqual([
      'freeze payments for 8 s',
      'kill -9 payments',
    ])
    expect(texts.filter((text) => text.includes('chain'))).toEqual([])
  })

  it('has a facilitator time out, lie and answer late where one settles', () => {
    const texts = round(new Random(3), true, true).map(actionText)
    expect(texts.filter((text) => text.includes('facilitator')).sort()).toEqual([
      'facilitator boasts for 10 s',
      'facilitator denies for 10 s',
      'facilitator late for 10 s',
      'facilitator node-failure for 10 s',
      'facilitator silent for 10 s',
      'facilitator unconfirmed for 10 s',
    ])
  })
})
