import { symbolOf } from '../../schemas/catalogue.ts'
import type { Point } from './core/chart.ts'
import type { GroupSummary, SignalResult, Study, TriggerResult } from './core/study.ts'
import type { Manifest } from './manifest.ts'
import { clock, escape, percent, price, priceChart, returnsChart, type Marker } from './svg.ts'

/** Rows of a list that the page shows; the files beside it have all. */
const ROWS_SHOWN = 200
const CHARTS_SHOWN = 24
const HOUR = 3_600_000

export interface ReportParts {
  readonly manifest: Manifest
  readonly study: Study
  readonly prices: ReadonlyMap<string, readonly Point[]>
}

/** One page with everything in it: no script, nothing that is fetched. */
export function reportHtml({ manifest, study, prices }: ReportParts): string {
  const assets = mostFirst([...prices], study).slice(0, CHARTS_SHOWN)
  const summaries = study.summaries()
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Backtest ${escape(manifest.outputHash.slice(0, 12))}</title><style>${style}</style></head><body><main>
<h1>Backtest</h1>
${headline(manifest)}
<h2>Prices and what fired</h2>
<p class="legend"><span class="long">▲</span> bets on a rise, <span class="short">▼</span> on a fall, <span class="alert">●</span> an alert rang</p>
${assets.map(([asset, points]) => assetChart(asset, points, study)).join('\n')}
<h2>Forward returns</h2>
${returns(summaries)}
<h2>Alerts that rang (${study.triggers.length})</h2>
${triggerTable(study.triggers)}
<h2>Signals (${study.signals.length})</h2>
${signalTable(study.signals)}
<h2>How to read this</h2>
${method(manifest)}
<h2>Manifest</h2>
<pre>${escape(JSON.stringify({ ...manifest, inputs: `${Object.keys(manifest.inputs).length} partitions, see manifest.json` }, null, 2))}</pre>
</main></body></html>
`
}

/** Charts on which most fired come first, else by symbol. */
function mostFirst(assets: readonly Chart[], { signals, triggers }: Study): Chart[] {
  const fired = Map.groupBy([...signals.filter(({ side }) => side !== null), ...triggers], ({ symbol }) => symbol)
  const count = ([asset]: Chart): number => fired.get(symbolOf(asset))?.length ?? 0
  return assets.toSorted((a, b) => count(b) - count(a) || (a[0] < b[0] ? -1 : 1))
}

type Chart = readonly [asset: string, points: readonly Point[]]

function headline(manifest: Manifest): string {
  const { parameters, source, events, signals, triggers, inputHash, outputHash, code } = manifest
  const rows: readonly (readonly [string, string])[] = [
    ['Range', `${text(parameters['from'], 'the log’s start')} to ${text(parameters['to'], 'the log’s end')}`],
    ['Symbols', Array.isArray(parameters['symbols']) ? parameters['symbols'].join(', ') : 'all'],
    ['Mode', `${text(parameters['mode'])}, latency ${text(parameters['latencyMs'])} ms`],
    ['Source', source],
    ['Events', events.toLocaleString('en')],
    ['Signals, triggers', `${signals.toLocaleString('en')}, ${triggers.toLocaleString('en')}`],
    ['Input', inputHash],
    ['Output', outputHash],
    ['Code', `${code.release} ${code.commit?.slice(0, 12) ?? ''}${code.changed ? ' with changes' : ''}`],
  ]
  return `<table class="facts">${rows.map(([name, value]) => `<tr><th>${name}</th><td>${escape(value)}</td></tr>`).join('')}</table>`
}

function text(value: unknown, otherwise = ''): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : otherwise
}

function assetChart(asset: string, points: readonly Point[], { signals, triggers }: Study): string {
  const symbol = symbolOf(asset)
  const bets = signals.flatMap((signal): Marker[] => {
    if (signal.symbol !== symbol || signal.side === null) return []
    return [{ time: signal.decided, side: signal.side, description: `${clock(signal.decided)} ${nameOf(signal)}` }]
  })
  const rang = triggers.flatMap((trigger): Marker[] =>
    trigger.symbol === symbol ? [{ time: trigger.time, side: 'alert', description: trigger.condition_met }] : [],
  )
  return `<section><h3>${escape(symbol)}</h3>${priceChart(points, [...rang, ...bets])}</section>`
}

function returns(summaries: readonly GroupSummary[]): string {
  const groups = Map.groupBy(summaries, ({ group }) => group)
  if (groups.size === 0) return '<p class="none">No signal said a direction.</p>'
  return [...groups]
    .map(([group, rows]) => {
      const bars = rows.flatMap(({ horizonMs, mean, low, high }) =>
        mean === null || low === null || high === null ? [] : [{ label: duration(horizonMs), mean, low, high }],
      )
      const table = rows.map(returnRow).join('')
      const side = rows[0]?.side ?? 'no side'
      return `<section><h3>${escape(group)} <small>${side}</small></h3>${returnsChart(bars)}
<table><tr><th>after</th><th>n</th><th>independent</th><th>mean</th><th>95 %</th><th>median</th><th>hits</th><th>95 %</th></tr>${table}</table></section>`
    })
    .join('\n')
}

function returnRow(row: GroupSummary): string {
  const { horizonMs, n, independent, mean, low, high, median, hitRate, hitLow, hitHigh } = row
  const bounds = low === null || high === null ? 'too few' : `${percent(low)} to ${percent(high)}`
  const hits = hitLow === null || hitHigh === null ? '' : `${share(hitLow)} to ${share(hitHigh)}`
  const cells = [duration(horizonMs), n, independent, orNone(mean, percent), bounds, orNone(median, percent)]
  return tableRow([...cells, orNone(hitRate, share), hits])
}

function triggerTable(triggers: readonly TriggerResult[]): string {
  if (triggers.length === 0) return '<p class="none">None.</p>'
  const rows = triggers.slice(0, ROWS_SHOWN).map(({ time, symbol, alert_id: id, condition_met: met, record }) => {
    return tableRow([clock(time), symbol, id, met, `${record.topic}/${record.partition}@${record.offset}`])
  })
  return `<table><tr><th>time</th><th>symbol</th><th>alert</th><th>what was so</th><th>record</th></tr>${rows.join('')}</table>${rest(triggers.length)}`
}

function signalTable(signals: readonly SignalResult[]): string {
  if (signals.length === 0) return '<p class="none">None.</p>'
  const rows = signals.slice(0, ROWS_SHOWN).map((signal) => {
    const { decided, symbol, from, value, fill, record } = signal
    const filled = fill === null ? '' : `${price(fill.price)} at ${clock(fill.time)}`
    const place = `${record.topic}/${record.partition}@${record.offset}`
    return tableRow([clock(decided), symbol, nameOf(signal), from, value.toPrecision(4), filled, place])
  })
  return `<table><tr><th>decided</th><th>symbol</th><th>signal</th><th>before</th><th>value</th><th>filled</th><th>record</th></tr>${rows.join('')}</table>${rest(signals.length)}`
}

function rest(count: number): string {
  return count > ROWS_SHOWN
    ? `<p>The first ${ROWS_SHOWN} of ${count.toLocaleString('en')}; all are in the files beside this page.</p>`
    : ''
}

function method({ parameters }: Manifest): string {
  return `<p>The same code that runs live read this history record by record, in the order of its log, and knew nothing of what came later. A decision is made at partition time, which stands behind the end of the window that it looks at; it is filled at the first price at least ${text(parameters['latencyMs'])} ms after it. Returns are the price's change from that fill, turned in the direction of the bet. No fees, no spread, no size.</p>
<p>Forward windows of one symbol that overlap tell the same story twice: the intervals count only those that do not. An interval that holds zero says that nothing was shown.</p>`
}

function tableRow(cells: readonly (string | number)[]): string {
  return `<tr>${cells.map((cell) => `<td>${escape(String(cell))}</td>`).join('')}</tr>`
}

function nameOf({ kind, period, exchange, to }: SignalResult): string {
  return [kind, period, exchange ?? '', to].filter((part) => part !== '').join(' ')
}

function orNone(value: number | null, show: (value: number) => string): string {
  return value === null ? '' : show(value)
}

function share(value: number): string {
  return `${(value * 100).toFixed(0)} %`
}

export function duration(ms: number): string {
  if (ms % (24 * HOUR) === 0) return `${ms / 24 / HOUR}d`
  if (ms % HOUR === 0) return `${ms / HOUR}h`
  return ms % 60_000 === 0 ? `${ms / 60_000}m` : `${ms / 1000}s`
}

const style = `
:root{color-scheme:light dark;--ink:#1d2430;--soft:#66707f;--line:#d9dee6;--page:#fff;--up:#0a7f5a;--down:#b3362b;--unsure:#8a94a3;--alert:#b7791f;--price:#2b5fa8}
@media(prefers-color-scheme:dark){:root{--ink:#e4e8ee;--soft:#98a2b1;--line:#333c48;--page:#12161c;--up:#34c592;--down:#f0776b;--unsure:#7d8896;--alert:#e5b454;--price:#78a9ef}}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:1000px;margin:0 auto;padding:24px 20px 60px}
h1{font-size:26px;margin:0 0 12px}h2{font-size:19px;margin:36px 0 8px;border-bottom:1px solid var(--line);padding-bottom:4px}h3{font-size:15px;margin:18px 0 4px}
small,.legend,.none{color:var(--soft);font-weight:normal}
table{border-collapse:collapse;width:100%;font-size:13px;font-variant-numeric:tabular-nums;display:block;overflow-x:auto}
th,td{text-align:left;padding:3px 10px 3px 0;border-bottom:1px solid var(--line);vertical-align:top}th{color:var(--soft);font-weight:500;white-space:nowrap}
.facts td{overflow-wrap:anywhere}
svg{width:100%;height:auto;display:block}svg text{font-size:11px;fill:var(--soft)}
.price{fill:none;stroke:var(--price);stroke-width:1.4}.grid{stroke:var(--line)}.axis,.whisker{stroke:var(--soft)}
polygon.long,rect.up{fill:var(--up)}polygon.short,rect.down{fill:var(--down)}rect.unsure{fill:var(--unsure);opacity:.5}circle.alert{fill:none;stroke:var(--alert);stroke-width:2}
span.long{color:var(--up)}span.short{color:var(--down)}span.alert{color:var(--alert)}
pre{font-size:12px;overflow-x:auto;background:color-mix(in srgb,var(--line) 35%,transparent);padding:12px}
`
