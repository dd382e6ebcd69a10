import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { isFault, readRuleTerms, type RuleTerms } from '../../processors/alerts/kinds/rule-terms.ts'

/** What of a file of rules cannot be read; the message says where, and what could be there. */
export class RuleFileError extends Error {}

type Given = Readonly<Record<string, unknown>>

/** A rule as a file has it. */
export interface FileRule {
  readonly name: string
  /** File and line. */
  readonly where: string
  readonly terms: RuleTerms
  /** What `POST /alerts` takes. */
  readonly body: Given
}

/** Fields that a rule keeps for as long as it lives. */
const fixed: ReadonlySet<string> = new Set([
  'symbol',
  'symbols',
  'webhook_url',
  'channel',
  'agent_wallet',
  'expires_in_hours',
])

/** What of a body can be changed, and what cannot. */
export function partsOfBody(body: Given): { readonly changeable: Given; readonly fixed: Given } {
  const entries = Object.entries(body)
  const isFixed = ([name]: readonly [string, unknown]): boolean => fixed.has(name)
  return {
    changeable: Object.fromEntries(entries.filter((entry) => !isFixed(entry))),
    fixed: Object.fromEntries(entries.filter(isFixed)),
  }
}

/**
 * The rules of a file, or of all `*.json` of a folder, each with a name of its own; `defaults` of a file stand in all of its
 * rules. `$NAME` in place of a text is the environment's, so that no secret is in a file. Throws `RuleFileError`.
 */
export function readRules(from: string, env: Readonly<Record<string, string | undefined>>): readonly FileRule[] {
  const rules = filesOf(from).flatMap((file) => rulesOf(file, env))
  const seen = new Map<string, string>()
  for (const { name, where } of rules) {
    const other = seen.get(name)
    if (other !== undefined) throw new RuleFileError(`${where}: ${name} is the name of another rule too, ${other}`)
    seen.set(name, where)
  }
  return rules
}

function filesOf(from: string): readonly string[] {
  const stat = statSync(from, { throwIfNoEntry: false })
  if (stat === undefined) throw new RuleFileError(`${from}: there is no such file or folder`)
  if (!stat.isDirectory()) return [from]
  const names = readdirSync(from).filter((name) => name.endsWith('.json') && !name.startsWith('.'))
  if (names.length === 0) throw new RuleFileError(`${from}: there is no *.json in it`)
  return names.sort().map((name) => path.join(from, name))
}

function rulesOf(file: string, env: Readonly<Record<string, string | undefined>>): FileRule[] {
  const text = readFileSync(file, 'utf8')
  const { rules, defaults = {} } = parsed(file, text)
  if (!Array.isArray(rules)) throw new RuleFileError(`${file}: /rules must be a list of rules`)
  return (rules as readonly unknown[]).map((rule, at) => {
    if (!isObject(rule) || !isObject(defaults)) throw new RuleFileError(`${file}: /rules/${at} must be an object`)
    const { name, ...given } = { ...defaults, ...rule }
    if (typeof name !== 'string' || !/^[\w.-]{1,100}$/.test(name))
      throw new RuleFileError(`${file}: /rules/${at}/name must be a name of letters, digits, dots and dashes`)
    const where = `${file}:${lineOf(text, name)}`
    const terms = readRuleTerms(given)
    if (isFault(terms)) throw new RuleFileError(`${where}: /rules/${at}${terms.pointer} (${name}): ${terms.message}`)
    return { name, where, terms, body: filled(given, env, `${where}: /rules/${at}`) as Given }
  })
}

function parsed(file: string, text: string): Given {
  try {
    const value = JSON.parse(text) as unknown
    if (isObject(value)) return value
  } catch (error) {
    // Where it is broken, its message says.
    throw new RuleFileError(`${file}: ${error instanceof Error ? error.message : String(error)}`)
  }
  throw new RuleFileError(`${file}: must be an object with rules`)
}

function isObject(value: unknown): value is Given {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function lineOf(text: string, name: string): number {
  const at = text.search(new RegExp(`"name"\\s*:\\s*"${name.replaceAll('.', '\\.')}"`))
  return text.slice(0, Math.max(0, at)).split('\n').length
}

function filled(value: unknown, env: Readonly<Record<string, string | undefined>>, pointer: string): unknown {
  if (Array.isArray(value)) return value.map((one, at) => filled(one, env, `${pointer}/${at}`))
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, filled(one, env, `${pointer}/${name}`)]),
    )
  const [, name] = typeof value === 'string' ? (/^\$([A-Z][A-Z0-9_]*)$/.exec(value) ?? []) : []
  if (name === undefined) return value
  const told = env[name]
  if (told === undefined || told === '') throw new RuleFileError(`${pointer}: set ${name} in the environment`)
  return told
}
