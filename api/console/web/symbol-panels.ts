import type * as answers from './answers.ts'
import { ask, type Asked } from './ask.ts'
import { now } from './clock.ts'
import { byId, el, fill, say, setState, td } from './dom.ts'
import * as format from './format.ts'
import { rungsOf } from './levels.ts'
import { answered, failed } from './old-figures.ts'

/** The flow panel is about one hour, milliseconds. */
const FLOW_MS = 3_600_000

/** What every answer of the API says of its age. */
interface Dated {
  readonly as_of: string
  readonly stale: boolean
}

/** Reads and draws everything beside the chart; each panel says by itself why it has nothing. */
export async function readPanels(symbol: string): Promise<void> {
  const name = encodeURIComponent(symbol)
  const [compare, predicted, basis, ratio, flow, heatmap] = await Promise.all([
    ask<answers.FundingCompareAnswer>(`/api/futures/funding-compare/${name}`),
    ask<answers.PredictedFundingAnswer>(`/api/futures/predicted-funding/${name}`),
    ask<answers.BasisAnswer>(`/api/futures/basis/${name}`),
    ask<answers.LongShortAnswer>(`/api/futures/long-short/${name}`),
    ask<answers.CvdAnswer>(`/api/cvd/${name}?period=1h`),
    ask<answers.LiquidationHeatmapAnswer>(`/api/liquidation/heatmap/${name}`),
  ])
  draw('funding-panel', compare, drawFunding)
  if (predicted.is === 'ok') drawPredicted(predicted.body)
  else say(byId('predicted'), '')
  draw('basis-panel', basis, drawBasis)
  draw('ratio-panel', ratio, drawRatio)
  draw('flow-panel', flow, drawFlow)
  draw('ladder-panel', heatmap, drawLadder)
}

function draw<Body extends Dated>(
  id: string,
  answer: Asked<Body>,
  show: (panel: HTMLElement, body: Body) => void,
): void {
  const panel = byId(id)
  if (answer.is === 'ok') {
    show(panel, answer.body)
    setState(panel, 'ready')
    answered(panel, Date.parse(answer.body.as_of), { isStale: answer.body.stale })
  } else if (panel.dataset['state'] === 'ready') failed(panel, answer.message)
  else setState(panel, answer.status === 202 ? 'empty' : 'error', answer.message)
}

function row(venue: string, ...cells: readonly (readonly [text: string, className: string])[]): HTMLElement {
  const shown = cells.map((cell) => td(...cell))
  return el('tr', { 'data-venue': venue }, el('th', { scope: 'row' }, venue), ...shown)
}

/** What stands where a venue has no figure: why. */
function orStatus(text: string, status: string): string {
  return text === format.DASH && status !== 'live' ? status : text
}

function drawFunding(panel: HTMLElement, { exchanges }: answers.FundingCompareAnswer): void {
  const rows = Object.entries(exchanges).map(
    ([venue, { funding_rate, annualized_pct, next_funding_time, mark_price, status }]) =>
      row(
        venue,
        [orStatus(format.percent(funding_rate, 4), status), 'num'],
        [format.inPercent(annualized_pct, 2), 'num'],
        [next_funding_time === null ? format.DASH : format.duration(Date.parse(next_funding_time) - now()), 'num'],
        [format.price(mark_price), 'num'],
      ),
  )
  fill(panel, rows)
}

function drawPredicted(predicted: answers.PredictedFundingAnswer): void {
  const { exchange, current_funding_rate, predicted_funding_rate, predicted_annualized_pct, predicted_by } = predicted
  say(
    byId('predicted'),
    `Next on ${exchange} in ${format.duration(predicted.time_to_funding_ms)}: predicted ` +
      `${format.percent(predicted_funding_rate, 4)} (${format.inPercent(predicted_annualized_pct, 2)} by the year, by the ` +
      `${predicted_by}), running ${format.percent(current_funding_rate, 4)}.`,
  )
}

function drawBasis(
  panel: HTMLElement,
  { spot_price, spot_exchange, spot_age_ms, exchanges }: answers.BasisAnswer,
): void {
  say(byId('spot'), `Spot ${format.price(spot_price)} USDT on ${spot_exchange}, ${format.age(spot_age_ms)} old.`)
  const rows = Object.entries(exchanges).map(([venue, { perp_price, basis_usd, basis_pct, direction, status }]) =>
    row(
      venue,
      [orStatus(format.price(perp_price), status), 'num'],
      [format.signed(basis_usd), 'num'],
      [format.inPercent(basis_pct, 3), 'num'],
      [direction ?? format.DASH, ''],
    ),
  )
  fill(panel, rows)
}

function drawRatio(panel: HTMLElement, { exchanges, aggregate }: answers.LongShortAnswer): void {
  say(
    byId('sentiment'),
    `Mean ratio ${aggregate.avg_ls_ratio.toFixed(2)}: ${aggregate.sentiment.replaceAll('_', ' ')}.`,
  )
  const share = (value: number | null): string => (value === null ? format.DASH : `${(value * 100).toFixed(1)} %`)
  const rows = Object.entries(exchanges).map(([venue, { long_ratio, short_ratio, ls_ratio, as_of, status }]) =>
    row(
      venue,
      [orStatus(share(long_ratio), status), 'num buy'],
      [share(short_ratio), 'num sell'],
      [ls_ratio === null ? format.DASH : ls_ratio.toFixed(2), 'num'],
      [as_of === null ? format.DASH : format.clock(Date.parse(as_of)), ''],
    ),
  )
  fill(panel, rows)
}

function drawFlow(panel: HTMLElement, { signal, period_cvd_usd, coverage, exchanges }: answers.CvdAnswer): void {
  const part = format.coveredPart(coverage.share, FLOW_MS)
  const covered = part === undefined ? '' : ` Only ${part} of the hour are covered.`
  say(byId('signal'), `CVD ${format.signed(period_cvd_usd)} USD: ${signal.replaceAll('_', ' ')}.${covered}`)
  const rows = Object.entries(exchanges).map(
    ([venue, { buy_volume_usd, sell_volume_usd, period_cvd_usd: delta, status }]) =>
      row(
        venue,
        [format.compact(buy_volume_usd), 'num'],
        [format.compact(sell_volume_usd), 'num'],
        [format.signed(delta), `num ${format.side(delta)}`],
        [status, ''],
      ),
  )
  fill(panel, rows)
}

function drawLadder(
  panel: HTMLElement,
  { current_price, open_interest_usd, levels, risk_summary }: answers.LiquidationHeatmapAnswer,
): void {
  const { total_oi_at_risk_usd, cascade_risk, cascade_risk_reason } = risk_summary
  say(
    byId('ladder-stats'),
    `Open interest ${format.compact(open_interest_usd)} USD, ${format.compact(total_oi_at_risk_usd)} USD at risk within ` +
      `5 %. Cascade risk ${cascade_risk}: ${cascade_risk_reason}`,
  )
  const rungs = rungsOf(levels, current_price)
  const above = rungs.filter(({ off }) => off > 0).map(rungRow)
  const below = rungs.filter(({ off }) => off < 0).map(rungRow)
  const here = el(
    'tr',
    { class: 'here' },
    el('th', { scope: 'row', class: 'num' }, format.price(current_price)),
    el('td', { class: 'num' }, 'mark'),
    el('td', {}),
    el('td', {}),
  )
  fill(panel, [...above, here, ...below])
}

function rungRow({ price, off, side, usd, share }: ReturnType<typeof rungsOf>[number]): HTMLElement {
  const fillBar = el('span', { class: `fill ${side}` })
  fillBar.style.width = `${(share * 100).toFixed(1)}%`
  return el(
    'tr',
    {},
    el('th', { scope: 'row', class: 'num' }, format.price(price)),
    el('td', { class: 'num' }, format.inPercent(off, 2)),
    el('td', { class: 'bar-cell' }, fillBar),
    el('td', { class: 'num' }, format.compact(usd)),
  )
}
