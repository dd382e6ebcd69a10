import type { LiquidationRecentAnswer } from './answers.ts'
import { ask } from './ask.ts'
import { cell, el, Rows, say, setState } from './dom.ts'
import * as format from './format.ts'
import { answered, failed } from './old-figures.ts'

const SHOWN = 30

interface Liquidation {
  readonly symbol: string
  readonly venue: string
  readonly side: string
  readonly size: number
  readonly price: number
  readonly value_usd: number
  readonly time: number
}

/** The panel of the newest liquidations: the API's, and those that the stream has brought since. */
export class Liquidations {
  readonly #panel: HTMLElement
  readonly #rows: Rows
  readonly #known = new Map<string, Liquidation>()

  constructor(panel: HTMLElement) {
    this.#panel = panel
    this.#rows = new Rows(panel.querySelector('tbody') ?? panel, makeRow)
  }

  heard(_key: string, value: unknown): void {
    // As `digest.ts` on the server writes it.
    const liquidation = value as Liquidation
    this.#known.set(identity(liquidation), liquidation)
  }

  async read(): Promise<void> {
    const answer = await ask<LiquidationRecentAnswer>(`/api/liquidation/recent?limit=${SHOWN}`)
    if (answer.is === 'failed') {
      if (this.#known.size === 0) setState(this.#panel, 'error', `Liquidations cannot be read: ${answer.message}`)
      failed(this.#panel, answer.message)
      return
    }
    answered(this.#panel, Date.parse(answer.body.as_of), { isStale: answer.body.stale })
    for (const { exchange, symbol, timestamp, ...rest } of answer.body.events) {
      const event = {
        ...rest,
        venue: exchange.toLowerCase(),
        symbol: symbol.replace(/USDT$/, ''),
        time: Date.parse(timestamp),
      }
      this.#known.set(identity(event), event)
    }
    const { last_1h: hour, last_24h: day } = answer.body.stats
    const missed = ({ complete }: { readonly complete: boolean }): string => (complete ? '' : ', as far as was heard')
    say(
      this.#panel.querySelector('.stats'),
      `Last hour: ${format.count(hour.total_events)} worth ${format.compact(hour.total_value_usd)} USD ` +
        `(${format.count(hour.long_liquidations)} long, ${format.count(hour.short_liquidations)} short)${missed(hour)}. ` +
        `Last 24 h: ${format.count(day.total_events)} worth ${format.compact(day.total_value_usd)} USD${missed(day)}.`,
    )
    setState(this.#panel, this.#known.size === 0 ? 'empty' : 'ready', 'No liquidation in the last 24 h.')
  }

  /** `now`: of the server, milliseconds. */
  draw(now: number): void {
    const newest = [...this.#known].toSorted(([, a], [, b]) => b.time - a.time)
    for (const [key] of newest.slice(SHOWN)) this.#known.delete(key)
    const shown = newest.slice(0, SHOWN)
    if (shown.length > 0) setState(this.#panel, 'ready')
    this.#rows.arrange(shown.map(([key]) => key))
    for (const [key, liquidation] of shown) drawRow(this.#rows.row(key), liquidation, now)
  }
}

/** The stream and the API know one liquidation by different ids: it is what it says. */
function identity({ venue, symbol, side, size, price, time }: Liquidation): string {
  return [venue, symbol, side, size, price, time].join('|')
}

function makeRow(): HTMLElement {
  const td = (name: string, className = ''): HTMLElement => el('td', { 'data-cell': name, class: className })
  return el(
    'tr',
    {},
    td('time'),
    td('symbol'),
    td('side'),
    td('value', 'num'),
    td('price', 'num'),
    td('size', 'num'),
    td('venue'),
  )
}

function drawRow(row: HTMLElement, liquidation: Liquidation, now: number): void {
  const { time, symbol, side, value_usd, price, size, venue } = liquidation
  say(cell(row, 'time'), `${format.clock(time)} · ${format.age(now - time)} ago`)
  say(cell(row, 'symbol'), symbol)
  say(cell(row, 'side'), side === 'long' ? '▼ long sold' : '▲ short bought', side === 'long' ? 'sell' : 'buy')
  say(cell(row, 'value'), format.compact(value_usd))
  say(cell(row, 'price'), format.price(price))
  say(cell(row, 'size'), format.compact(size))
  say(cell(row, 'venue'), venue)
}
