import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { isFault, readRuleTerms } from '../../processors/alerts/kinds/rule-terms.ts'
import { partsOfBody, RuleFileError, type FileRule } from './files.ts'

/** What the token file knows of a rule that was made. */
export interface OwnedRule {
  readonly alert_id: string
  readonly manage_token: string
  readonly webhook_secret: string
  /** Digests of what was sent: what can be changed, and what cannot. */
  readonly changeable: string
  readonly fixed: string
}

/** What the API says no to of one rule; the others are not concerned. */
export class RuleRefused extends RuleFileError {}

export type OwnedRules = Readonly<Record<string, OwnedRule>>

/** What is to be done about a rule. */
export interface Step {
  readonly name: string
  readonly does: 'create' | 'change' | 'remove' | 'leave' | 'keep'
  readonly why: string
  readonly rule?: FileRule
  readonly owned?: OwnedRule
}

interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** Asks the API, and pays where it is to be paid. */
export type Ask = (
  method: string,
  path: string,
  sent?: { readonly body?: object; readonly token?: string; readonly key?: string },
) => Promise<Answer>

/** Milliseconds. */
type Clock = () => number

/** What it takes to make the API's rules those of the files. Throws `RuleFileError` for what cannot be changed. */
export async function planOf(
  rules: readonly FileRule[],
  owned: OwnedRules,
  ask: Ask,
  now: Clock,
): Promise<readonly Step[]> {
  const wanted: Step[] = []
  for (const rule of rules) wanted.push(await stepOf(rule, owned[rule.name], ask, now))
  const names = new Set(rules.map(({ name }) => name))
  const gone = Object.entries(owned).filter(([name]) => !names.has(name))
  return [...wanted, ...gone.map(([name, one]): Step => ({ name, does: 'remove', why: 'no file has it', owned: one }))]
}

async function stepOf(rule: FileRule, owned: OwnedRule | undefined, ask: Ask, now: Clock): Promise<Step> {
  const { name } = rule
  if (owned === undefined) return { name, does: 'create', why: 'it is new', rule }
  const { status, body } = await ask('GET', `/alerts/${owned.alert_id}`)
  if (status !== 404 && status !== 200) throw failedRule(rule, { status, body })
  if (status === 404) return { name, does: 'create', why: 'it is gone', rule, owned }
  if (isEnded(body, now)) return { name, does: 'create', why: `it has ended, ${String(body['status'])}`, rule, owned }
  const { changeable, fixed } = partsOfBody(rule.body)
  if (!isDigest(owned.fixed, fixed))
    throw new RuleFileError(
      `${rule.where}: ${name}: its symbols, where it goes and how long it lives stay as they were made; give it another name, and take this one away with --prune`,
    )
  const terms = readRuleTerms(body)
  const isSame = !isFault(terms) && isDeepStrictEqual(terms, rule.terms) && isDigest(owned.changeable, changeable)
  const isOver = body['repeat'] === false && body['status'] === 'triggered'
  return isSame
    ? { name, does: 'keep', why: isOver ? 'it is the same, and has rung its one time' : 'it is the same', rule, owned }
    : { name, does: 'change', why: isOver ? 'it differs, and is made again: it has rung' : 'it differs', rule, owned }
}

/** A rule that was ringing at its end stays `triggered`, and looks at nothing any more. */
function isEnded({ status, expires_at: end }: Answer['body'], now: Clock): boolean {
  if (status === 'triggered') return typeof end === 'string' && Date.parse(end) <= now()
  return status === 'expired' || status === 'cancelled'
}

/** Does one step; gives what the token file is to know of the rule: undefined: nothing any more. */
export async function applyStep(
  { name, does, rule, owned }: Step,
  ask: Ask,
  now: Clock,
): Promise<OwnedRule | undefined> {
  if (does === 'remove' && owned !== undefined) {
    const answer = await ask('DELETE', `/alerts/${owned.alert_id}`, { token: owned.manage_token })
    if (answer.status !== 200 && answer.status !== 404 && answer.status !== 409) throw failed(name, answer)
    return undefined
  }
  if (rule === undefined) return owned
  const { changeable, fixed } = partsOfBody(rule.body)
  const digests = { changeable: digest(changeable), fixed: digest(fixed) }
  if (does === 'change' && owned !== undefined) {
    const answer = await ask('PATCH', `/alerts/${owned.alert_id}`, { token: owned.manage_token, body: changeable })
    if (answer.status === 200) return { ...owned, ...digests }
    if (answer.body['error'] !== 'alert_not_active') throw failedRule(rule, answer) // else it has ended: it is made again
  } else if (does !== 'create') return owned
  const made = await create(rule, owned?.alert_id, ask, now)
  const text = (field: string): string => String(made[field])
  return {
    alert_id: text('alert_id'),
    manage_token: text('manage_token'),
    webhook_secret: text('webhook_secret'),
    ...digests,
  }
}

/** What was not answered, or not written down, is found again by its key; where that has ended, its id makes the next key. */
async function create(rule: FileRule, ended: string | undefined, ask: Ask, now: Clock): Promise<Answer['body']> {
  const key = digest([rule.name, rule.body, ended])
  const answer = await ask('POST', '/alerts', { body: rule.body, key })
  if (answer.status !== 201) throw failedRule(rule, answer)
  const id = String(answer.body['alert_id'])
  const { body } = await ask('GET', `/alerts/${id}`)
  return isEnded(body, now) && id !== ended ? create(rule, id, ask, now) : answer.body
}

/** The same for the same fields in any order. */
function digest(value: unknown): string {
  return sha256(JSON.stringify(sorted(value)))
}

/** Token files of before have digests of the fields in the order of the file. */
function isDigest(known: string, value: unknown): boolean {
  return known === digest(value) || known === sha256(JSON.stringify(value))
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, one]) => [name, sorted(one)]))
}

function failedRule({ where, name }: FileRule, answer: Answer): RuleFileError {
  return failed(`${where}: ${name}`, answer)
}

/** Where it is not paid, or takes no more, nor does it for the next rule. */
function failed(which: string, answer: Answer): RuleFileError {
  const { status } = answer
  const isOfAll = status >= 500 || status === 402 || status === 429
  const message = `${which}: ${wordsOf(answer)}`
  return isOfAll ? new RuleFileError(message) : new RuleRefused(message)
}

function wordsOf({ status, body }: Answer): string {
  const { error = '', message = '', pointer = body['field'] ?? '' } = body
  return [status, error, pointer, message].filter((word) => word !== '').join(' ')
}
