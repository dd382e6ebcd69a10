import { describe, expect, it } from 'vitest'
import type { Alert, Gap } from '../../../schemas/records.ts'
import { alert } from '../testing/alert.ts'
import { Latencies } from './latencies.ts'
import { emptyPresent, put } from '../../../processors/present/state.ts'
import { emptyFields } from '../../../schemas/codec.ts'
import { Present } from '../../present/present.ts'
import { keysMax } from './digest.ts'
import { begun, PageBoard } from './pages.ts'

const STATES = { topic: 'alerts.state', partition: 0 } as const
const RULE = 'alert_rule_list_1_2'

/** A board that hears what becomes of alerts, in one partition. */
class Heard {
  readonly pages = new PageBoard({ partitions: 1, now: () => 0, latencies: new Latencies() })
  #offset = 0

  tells(id: string, symbol: string, status: Alert['status']): void {
    const value = { ...alert, alert_id: id, symbol, status, ended_at: status === 'active' ? 0 : 1_000_000 }
    this.pages.hear(this.#next(), { type: 'alert', value })
  }

  tellsGone(id: string): void {
    this.pages.gone(this.#next(), id)
  }

  /** The alerts that a page shows, with what stands in a few of their columns. */
  get shown(): { key: string; symbol: string; ended: number | null }[] {
    const entries = this.pages.board.all().filter(({ kind }) => kind === 'alert')
    return entries.map(({ key, value }) => {
      const { symbol, ended } = value as { symbol: string; ended: number | null }
      return { key, symbol, ended }
    })
  }

  #next(): { topic: string; partition: number; offset: number } {
    this.#offset += 1
    return { ...STATES, offset: this.#offset }
  }
}

describe('a rule for several symbols on a page', () => {
  it('is there until all of its parts are gone', () => {
    const heard = new Heard()
    heard.tells(`${RULE}.1.btc`, 'BTC', 'expired')
    heard.tells(`${RULE}.2.eth`, 'ETH', 'active')
    heard.tellsGone(`${RULE}.1.btc`)
    expect(heard.shown).toEqual([{ key: RULE, symbol: 'ETH', ended: null }])
    heard.tells(`${RULE}.2.eth`, 'ETH', 'expired')
    heard.tellsGone(`${RULE}.2.eth`)
    expect(heard.shown).toEqual([])
  })

  it('has no part that went while nobody read', () => {
    const heard = new Heard()
    heard.tells(`${RULE}.1.btc`, 'BTC', 'expired')
    heard.pages.begin([{ ...STATES, offset: 0 }])
    heard.tells(`${RULE}.2.eth`, 'ETH', 'active')
    expect(heard.shown).toEqual([{ key: RULE, symbol: 'ETH', ended: null }])
  })

  it('is known longest where there was word of it last', () => {
    const heard = new Heard()
    heard.tells(`${RULE}.1.btc`, 'BTC', 'active')
    for (let n = 0; n < 1_500; n += 1) {
      heard.tells(`alert_rule_list_3_${n}.1.btc`, 'BTC', 'active')
      if (n % 500 === 0) heard.tells(`${RULE}.2.eth`, 'ETH', 'expired')
    }
    expect(heard.shown.find(({ key }) => key === RULE)).toEqual({ key: RULE, symbol: 'BTC,ETH', ended: null })
  })
})

describe('the gaps that a page begins with', () => {
  const NOW = 1_800_000_000_000
  const DAY = 86_400_000_000
  const end = NOW * 1_000 - DAY
  const GAP: Gap = {
    ...emptyFields('gap'),
    instrument: 'okx:perp:BTC-USDT-SWAP',
    asset: 'btc',
    gap_id: 0,
    feed: 'feeds',
    state: 'filled',
    reason: 'missing_ids',
    from_time: end,
    to_time: end,
    time: end,
  }

  /** Keys that a page is told of, of a present that holds these and nothing else. */
  function told(...gaps: readonly Partial<Gap>[]): string[] {
    const states = [emptyPresent(), emptyPresent()]
    for (const [at, given] of gaps.entries()) {
      const gap = { ...GAP, gap_id: at, ...given }
      const state = states[at % states.length]
      if (state !== undefined) put(state, 'gap', String(at), gap)
    }
    const updates = begun(new Present(() => states, emptyPresent()), NOW)
    return updates.filter(({ kind }) => kind === 'gap').map(({ kind, key }) => `${kind} ${key}`)
  }
  const key = (id: number): string => `gap okx:perp:BTC-USDT-SWAP/${id}`

  it('are the open ones and those of the last day, from memory alone', () => {
    const day = { state: 'filled', from_time: end, to_time: end } as const
    const over = { state: 'filled', from_time: end - 1, to_time: end - 1 } as const
    expect(told(day, over, { ...over, state: 'opened' }, { ...day, from_time: end + 5, state: 'unfillable' })).toEqual([
      key(2),
      key(3),
      key(0),
    ])
  })

  it('are no more than the board holds, the open ones among them', () => {
    const many = Array.from(
      { length: 700 },
      (_, at) => ({ state: 'filled', to_time: end + at, from_time: end + at }) as const,
    )
    const keys = told(...many, { state: 'opened', from_time: 0, to_time: 0 })
    expect([keys.length, keys[0], keys[1]]).toEqual([keysMax.gap, key(700), key(699)])
  })
})
