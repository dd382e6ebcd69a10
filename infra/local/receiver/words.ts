import type { Entry } from './receiver.ts'
import type { Verdict } from './verify.ts'

const verdicts: Readonly<Record<Verdict, string>> = {
  verified: 'both signatures verified',
  stale: 'signatures right, but its time is more than 5 minutes off',
  wrong: 'WRONG SIGNATURE: do not believe it',
  'unknown-secret': 'signature not checked: the alert’s webhook_secret is not known here',
}

/** A webhook as a person reads it: what happened, whether it can be believed, the body. */
export function eventWords({ id, time, verdict, attempt, manner }: Entry, body: string): string {
  const value = parse(body)
  const marks = [
    value['test'] === true && 'TEST',
    value['demo'] === true && 'demo',
    attempt > 1 && `again, ${attempt}.`,
  ]
  const told = [value['event'], value['symbol'], ...marks.filter((mark) => mark !== false)].map(String).join(' ')
  const data = record(value['data'])
  const answered = manner === 'ok' ? '' : `\n  answered with: ${manner}`
  return [
    `${time}  ${told}`,
    `  ${what(data)}`,
    `  ${verdicts[verdict]}; webhook-id ${id}${answered}`,
    indent(JSON.stringify(value, undefined, 2)),
  ].join('\n')
}

/** What became of one that came before its secret. */
export function checkedWords({ id, verdict }: Entry): string {
  return `Its secret came: ${verdicts[verdict]}; webhook-id ${id}`
}

function parse(body: string): Readonly<Record<string, unknown>> {
  try {
    return record(JSON.parse(body))
  } catch {
    return { event: 'not JSON', data: { condition_met: body.slice(0, 200) } }
  }
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}

function what({ condition_met: met, oi_at_risk_pct: pct }: Readonly<Record<string, unknown>>): string {
  return typeof met === 'string' ? met : `${String(pct)} % of open interest is at risk of liquidation`
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '  ')
}
