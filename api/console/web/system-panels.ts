import type { HealthzAnswer } from './answers.ts'
import { badge, byId, el, fillOrSay, say, setState, td } from './dom.ts'
import * as format from './format.ts'

export interface ViewAnswer {
  readonly promises:
    | readonly {
        readonly promise: string
        readonly objective: number
        readonly kept: number
        readonly total: number
        readonly left: number | null
        readonly burn: Readonly<Record<string, number | null>>
      }[]
    | null
  readonly letters: {
    readonly count: number
    readonly newest: readonly {
      readonly processor: string
      readonly topic: string
      readonly partition: number
      readonly offset: number
      readonly time: number
      readonly reason: string
      readonly code: string
      readonly at: string | null
    }[]
  } | null
  readonly lag: readonly { readonly consumer: string; readonly topic: string; readonly records: number }[]
  readonly hops: readonly {
    readonly hop: string
    readonly what: string
    readonly over: string
    readonly count: number
    readonly p50: number | null
    readonly p95: number | null
    readonly p99: number | null
    readonly max: number | null
  }[]
  readonly payments: {
    readonly mode: string
    readonly states: readonly { readonly state: string; readonly payments: number; readonly usd: number }[] | null
    readonly revenue:
      | readonly {
          readonly day: string
          readonly method: string
          readonly route: string
          readonly payments: number
          readonly usd: number
        }[]
      | null
  }
  readonly customers: {
    readonly month: string
    readonly keys:
      | readonly {
          readonly key_id: string
          readonly payer: string
          readonly balance: number
          readonly route: string
          readonly requests: number
          readonly usd: number
        }[]
      | null
  }
}

export function drawHealth(health: HealthzAnswer): void {
  const { status, version, mode, log, parts, topics, audit } = health
  const age =
    log === undefined
      ? ''
      : `, log ${log.status}, ${format.latency(log.age_ms)} old, derived data ${format.latency(log.lag_ms)} behind it`
  const open = health.open_gaps ?? 0
  const waiting = health.oldest_undelivered_ms
  const aside = health.dead_letters?.count ?? 0
  say(
    byId('health-words'),
    `${status === 'ok' ? 'All is well' : `The system is ${status}`}: version ${version}, ${mode}${age}; ` +
      `${format.count(health.active_ws_connections)} trade connections, ${open} open gaps` +
      (aside === 0 ? '' : `, ${format.count(aside)} records set aside`) +
      `${waiting === undefined ? '' : `, oldest undelivered trigger ${format.duration(waiting)}`}${pastWords(health)}.`,
  )
  const chips = Object.entries(parts).map(([name, state]) =>
    el('li', { class: `badge ${state === 'ok' ? 'good' : 'bad'}` }, `${name} ${state}`),
  )
  byId('parts').replaceChildren(...chips)
  setState(byId('health'), 'ready')
  drawTopics(topics ?? {})
  drawAudit(audit)
}

/** How far the venues' past is read back, while it is. */
function pastWords({ backfill }: HealthzAnswer): string {
  if (backfill?.state === 'paused') return '; the disk has too little room to read the past back: free some'
  if (backfill?.state !== 'running' || backfill.wanted === 0) return ''
  const percent = Math.floor((100 * (backfill.wanted - backfill.missing)) / backfill.wanted)
  const left = backfill.seconds_left === null ? '' : `, about ${format.duration(backfill.seconds_left * 1_000)} left`
  return `; the past is ${percent} % read back, ${format.count(Math.round(backfill.missing))} rows to come${left}`
}

function drawTopics(topics: NonNullable<HealthzAnswer['topics']>): void {
  const rows = Object.entries(topics).map(([topic, { age_ms, as_of }]) =>
    el('tr', {}, td(topic), td(format.latency(age_ms), 'num'), td(format.clock(Date.parse(as_of)))),
  )
  fillOrSay(byId('topics'), rows, 'There are no marks yet.')
}

function drawAudit(audit: HealthzAnswer['audit']): void {
  if (audit === undefined) return setState(byId('audit'), 'error', 'The audit cannot be read just now.')
  const rows = Object.entries(audit).map(([venue, { compared, different, unexplained, worst_volume_difference }]) =>
    el(
      'tr',
      { 'data-venue': venue },
      el('th', { scope: 'row' }, venue),
      td(format.count(compared), 'num'),
      td(format.count(different), 'num'),
      td(format.count(unexplained), unexplained > 0 ? 'num sell' : 'num'),
      td(worst_volume_difference === null ? 'none' : format.percent(worst_volume_difference, 6), 'num'),
    ),
  )
  fillOrSay(byId('audit'), rows, 'Nothing has been compared yet: a minute is, once its venue has closed it.')
}

export function drawView({ promises, lag, hops, payments, customers, letters }: ViewAnswer): void {
  drawPromises(promises)
  drawLetters(letters)

  const lags = lag.map(({ consumer, topic, records }) =>
    el('tr', {}, td(consumer), td(topic), td(format.count(records), 'num')),
  )
  fillOrSay(byId('lag'), lags, 'No part gives its metrics just now.')
  const sizes = Map.groupBy(hops, ({ hop }) => hop)
  const times = hops.map(({ hop, what, p50, p95, p99, max, count, over }, at) =>
    el(
      'tr',
      { 'data-hop': `${hop}/${what}` },
      ...(hops[at - 1]?.hop === hop
        ? []
        : [el('th', { scope: 'rowgroup', class: 'group', rowspan: String(sizes.get(hop)?.length ?? 1) }, hop)]),
      td(what),
      ...[p50, p95, p99, max].map((ms) => td(count > 0 && ms === null ? 'beyond' : format.latency(ms), 'num')),
      td(format.count(count), 'num'),
      td(over),
    ),
  )
  fillOrSay(byId('hops'), times, 'Nothing has been timed yet.')
  drawPayments(payments)
  drawCustomers(customers)
}

const promised: Readonly<Record<string, string>> = {
  answered: 'Answers without a fault of ours',
  prompt: 'Answers within 1 s, paid ones within 5 s',
  there: 'Time in which the API was there',
  delivered: 'Webhooks taken within 30 s of their condition',
  complete: 'Minutes equal to the venue’s own candle',
}

const burnColumns = ['5m', '1h', '6h', '3d'] as const

function drawPromises(promises: ViewAnswer['promises']): void {
  if (promises === null) return setState(byId('promises'), 'error', 'How promises are kept cannot be read just now.')
  const rows = promises
    .filter(({ total }) => total > 0)
    .map(({ promise, objective, kept, total, left, burn }) =>
      el(
        'tr',
        { 'data-promise': promise },
        el('th', { scope: 'row' }, promised[promise] ?? promise),
        td(`${(100 * objective).toFixed(1)} %`, 'num'),
        td(`${((100 * kept) / total).toFixed(3)} %`, 'num'),
        td(format.count(total), 'num'),
        td(left === null ? 'none' : `${(100 * left).toFixed(0)} %`, left !== null && left < 0 ? 'num sell' : 'num'),
        ...burnColumns.map((window) => burnCell(burn[window] ?? null)),
      ),
    )
  fillOrSay(byId('promises'), rows, 'Nothing has been promised to anybody yet.')
}

/** Above 1 the allowance of 30 days ends before they do. */
function burnCell(times: number | null): HTMLElement {
  return td(times === null ? 'none' : times.toFixed(1), times !== null && times > 1 ? 'num sell' : 'num')
}

function drawLetters(letters: ViewAnswer['letters']): void {
  if (letters === null) return setState(byId('letters'), 'error', 'What was set aside cannot be read just now.')
  const { count, newest } = letters
  say(byId('letter-words'), count > newest.length ? `${format.count(count)} in all; the newest ${newest.length}:` : '')
  const rows = newest.map(({ processor, topic, partition, offset, time, reason, code, at }) => {
    const position = `${topic}/${partition}@${offset}`
    const why = at === null ? code : `${code} at ${at}`
    return el(
      'tr',
      { 'data-letter': `${processor}|${position}` },
      td(format.moment(time)),
      td(processor),
      td(position),
      el('td', {}, badge(reason, 'bad')),
      td(why),
    )
  })
  fillOrSay(byId('letters'), rows, 'No record was set aside: all could be read and applied.')
}

const modes: Readonly<Record<string, string>> = {
  off: 'Payments are off: every route of the API is free.',
  local: 'Play money on the chain of this machine.',
  x402: 'Routes are paid for in USDC.',
}

function drawPayments({ mode, states, revenue }: ViewAnswer['payments']): void {
  const panel = byId('payments')
  if (states === null || revenue === null) return setState(panel, 'error', 'Payments cannot be read just now.')
  const sums = states.map(({ state, payments, usd }) => `${format.count(payments)} ${state} (${usd.toFixed(2)} USD)`)
  const words = `${modes[mode] ?? mode} ${sums.join(', ')}`.trim()
  say(byId('payment-words'), words)
  const rows = revenue.map(({ day, method, route, payments, usd }) =>
    el('tr', {}, td(day), td(`${method} ${route}`), td(format.count(payments), 'num'), td(usd.toFixed(4), 'num')),
  )
  fillOrSay(byId('payments'), rows, `${words} Nothing has been earned yet.`)
}

function drawCustomers({ month, keys }: ViewAnswer['customers']): void {
  if (keys === null) return setState(byId('customers'), 'error', 'API keys cannot be read just now.')
  const rows = keys.flatMap(({ key_id: key, payer, balance, route, requests, usd }, at) => {
    const charged = el(
      'tr',
      { 'data-key': key },
      td(route),
      td(format.count(requests), 'num'),
      td(usd.toFixed(4), 'num'),
    )
    if (keys[at - 1]?.key_id === key) return [charged]
    const named = { href: `/invoice/${key}-${month}.csv`, download: '', 'aria-label': `Invoice of ${key}, ${month}` }
    const balanceText = el('span', { class: 'unit' }, ` ${balance.toFixed(2)} USD left, bought by ${payer} `)
    const head = el('th', { scope: 'rowgroup', colspan: '3' }, key, balanceText, el('a', named, 'Invoice'))
    return [el('tr', {}, head), charged]
  })
  fillOrSay(byId('customers'), rows, `No API key was charged in ${month}.`)
}
