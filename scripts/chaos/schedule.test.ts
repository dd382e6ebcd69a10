import { describe, expect, it } from 'vitest'
import { Random } from '../../infra/simulator/market/random.ts'
import { type Action, actionText, FORGETS_SECONDS, round, takeNext } from './schedule.ts'

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
      'freeze processors for 46 s and replace them',
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

  it('does of a cluster what one machine cannot meet, and takes nothing off its log', () => {
    const texts = round(new Random(3), { cluster: true, own: true }).map((action) =>
      actionText(action)
        .replaceAll(/-?\d/g, '')
        .replace(/ on \w+$/, ''),
    )
    expect(texts.filter((text) => !text.startsWith('fault')).sort()).toEqual([
      'broker down for  s',
      'broker with an empty disk',
      'clock of feeds  minutes ahead for  s',
      'freeze broker for  s',
      'freeze processors for  s',
      'freeze webhooks for  s',
      'kill  api',
      'kill  api',
      'kill  broker',
      'kill  clickhouse',
      'kill  feeds',
      'kill  processors',
      'kill  registry',
      'kill  webhooks',
      'leaders moved',
      'machine  down for  s',
      'network cut at link for  s',
      'rolling restart of the brokers',
    ])
  })

  it('takes nothing off the log before it may, then first what has waited for that', () => {
    const all = round(new Random(3), { own: true })
    const loses = (action: Action | undefined) => action?.kind === 'cut' || action?.kind === 'overtake'
    const left = [...all]
    const early = Array.from({ length: 5 }, () => takeNext(left, false))
    expect(early).toEqual(all.filter((action) => !loses(action)).slice(0, 5))
    const late = Array.from({ length: left.length }, () => takeNext(left, true))
    expect([...early, ...late]).toHaveLength(all.length)
    expect(late).toEqual(all.filter((action) => !early.includes(action)))
    expect(takeNext(left, true)).toBeUndefined()
    const only = all.filter(loses)
    expect(takeNext([...only], false)).toEqual(only[0])
  })

  it('replaces the processors after a broker of its own has forgotten them', () => {
    const away = round(new Random(3)).flatMap((action) => (action.kind === 'replace' ? [action.ms] : []))
    expect(away).toHaveLength(1)
    // it forgets at the next look after that time, a tenth of it later at the most
    expect(Math.min(...away)).toBeGreaterThan(1.1 * FORGETS_SECONDS * 1_000)
  })

  it('kills and freezes the settling where payments are taken, and never the chain', () => {
    const texts = round(new Random(3), { paid: true }).map(actionText)
    expect(texts.filter((text) => text.includes('payments')).sort()).toEqual([
      'freeze payments for 8 s',
      'kill -9 payments',
    ])
    expect(texts.filter((text) => text.includes('chain'))).toEqual([])
  })

  it('has a facilitator time out, lie and answer late where one settles', () => {
    const texts = round(new Random(3), { paid: true, facilitator: true }).map(actionText)
    expect(texts.filter((text) => text.includes('facilitator')).sort()).toEqual([
      'facilitator boasts for 10 s',
      'facilitator denies for 10 s',
      'facilitator late for 10 s',
      'facilitator node-failure for 10 s',
      'facilitator silent for 10 s',
      'facilitator unconfirmed for 10 s',
    ])
  })

  it('takes tails off the log of a system of its own, and has retention overtake a reader; never of another', () => {
    const losing = (own: boolean, paid = false): string[] =>
      round(new Random(3), { own, paid })
        .map((action) => actionText(action).replace(/\d+/, 'N'))
        .filter((text) => /^(cut|retention)/.test(text))
        .sort()
    expect(losing(true)).toEqual([
      'cut the last N records of alerts.inputs',
      'cut the last N records of alerts.triggers',
      'cut the last N records of derived.flow',
      'cut the last N records of market.trades',
      'cut the last N records of webhooks.attempts',
      'retention of market.trades overtakes processors',
    ])
    expect(losing(true, true).filter((text) => text.includes('payments'))).toEqual([
      'cut the last N records of payments.events',
      'cut the last N records of payments.intents',
    ])
    expect(losing(false)).toEqual([])
  })
})
