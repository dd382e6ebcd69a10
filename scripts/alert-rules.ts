import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { LockError, withLock } from '../infra/local/lock.ts'
import { urlOf } from '../infra/local/run-file.ts'
import {
  applyStep,
  planOf,
  RuleRefused,
  type Ask,
  type OwnedRule,
  type OwnedRules,
  type Step,
} from './alert-rules/apply.ts'
import { readRules, RuleFileError, type FileRule } from './alert-rules/files.ts'
import { testRules, TestFileError } from './alert-rules/run.ts'
import { MarketDataClient, NoAnswerError, NotPaidError } from './clients/typescript/src/index.ts'
import { flag, readNumber, runCommand, running, text, UsageError, type Values } from './command/command.ts'
import { tellingPayer } from './command/payer.ts'

const usage = `npm run rules -- test FILE...             rings rules over written series, and says where they ring otherwise than expected
npm run rules -- diff DIR|FILE [flags]    says what apply would do; exit 1 where it would do something
npm run rules -- apply DIR|FILE [flags]   makes the rules of an API those of the files: new ones are made, others changed

  --prune         rules that no file has any more are deleted
  --tokens FILE   ids and tokens of the rules that were made (default .rules-tokens.json beside the files); keep it secret
  --max USD       pay no more than this in all (default 1), with PAYER_KEY or PAYER_KEY_FILE, as npm run pay does
  --data DIR      data folder of the running system (default .data)
  --api URL       another API
  --help          this text

Files: scripts/alert-rules/README.md.`

const flags = { prune: flag, tokens: text, max: text, data: text, api: text } as const
type Given = Values<typeof flags>

async function main(values: Given, [command, ...words]: readonly string[]): Promise<boolean> {
  const [from] = words
  if (command === 'test' && from !== undefined) return test(words)
  if ((command !== 'apply' && command !== 'diff') || from === undefined || words.length > 1) throw new UsageError(usage)
  const rules = readRules(from, process.env)
  const tokens =
    values.tokens ?? path.join(statSync(from).isDirectory() ? from : path.dirname(from), '.rules-tokens.json')
  const task = { rules, tokens, ask: asker(values), isPruning: values.prune === true }
  if (command === 'diff') return diff(task)
  const lock = `${tokens}.lock`
  if (existsSync(lock)) console.error(`${lock} is another apply's; waits while that runs`)
  await withLock(lock, LOCK_MS, () => apply(task))
  return true
}

/** For another apply with the same tokens. */
const LOCK_MS = 300_000

interface Task {
  readonly rules: readonly FileRule[]
  readonly tokens: string
  readonly ask: Ask
  readonly isPruning: boolean
}

async function diff(task: Task): Promise<boolean> {
  const steps = await stepsOf(task, readOwned(task.tokens))
  for (const step of steps) console.log(lineOf(step))
  return steps.every(({ does }) => does === 'keep' || does === 'leave')
}

async function apply(task: Task): Promise<void> {
  let owned = readOwned(task.tokens)
  const steps = await stepsOf(task, owned)
  let refused = 0
  for (const step of steps) {
    try {
      owned = withRule(owned, step.name, await applyStep(step, task.ask, Date.now))
    } catch (error) {
      if (!(error instanceof RuleRefused)) throw error
      console.error(error.message)
      refused += 1
      continue
    }
    writeOwned(task.tokens, owned)
    console.log(lineOf(step))
  }
  if (refused > 0) throw new RuleFileError(`${refused} of ${steps.length} rules refused; the others are applied`)
}

async function stepsOf({ rules, ask, isPruning }: Task, owned: OwnedRules): Promise<readonly Step[]> {
  const known = rules.filter(({ name }) => owned[name] !== undefined).length
  const steps = await planOf(rules, owned, saying(ask, known), Date.now)
  return steps.map((step) => pruned(step, isPruning))
}

/** Says on standard error how far it is, which may take minutes: the API takes so many requests a second. */
function saying(ask: Ask, all: number): Ask {
  let asked = 0
  return async (...sent) => {
    asked += 1
    if (asked % 100 === 0) console.error(`looking at rule ${asked} of ${all}`)
    return ask(...sent)
  }
}

function lineOf({ does, name, why }: Step): string {
  return `${signs[does]} ${name}: ${why}`
}

const signs = { create: '+', change: '~', remove: '-', leave: '?', keep: '=' } as const

function pruned(step: Step, isWanted: boolean): Step {
  if (step.does !== 'remove' || isWanted) return step
  return { ...step, does: 'leave', why: `${step.why}; --prune deletes it` }
}

function test(files: readonly string[]): boolean {
  let failed = 0
  for (const file of files) {
    for (const { test: name, faults } of resultsOf(file)) {
      console.log(`${faults.length === 0 ? 'ok' : 'FAILED'}  ${file}: ${name}`)
      for (const fault of faults) console.log(`  ${fault}`)
      failed += Number(faults.length > 0)
    }
  }
  return failed === 0
}

function resultsOf(file: string): ReturnType<typeof testRules> {
  try {
    return testRules(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    const isOfFile = error instanceof TestFileError || error instanceof SyntaxError || isMissing(error)
    throw isOfFile ? new UsageError(`${file}: ${error.message}`) : error
  }
}

function isMissing(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

/** Pays what is asked, up to the limit of all of it, and waits where the API takes no more for a moment. */
function asker({ api, data = '.data', max = '1' }: Given): Ask {
  const run = api === undefined ? running(data, 'or name another API with --api URL') : undefined
  const isLocal = run?.parts.some(({ name }) => name === 'chain') === true
  const client = new MarketDataClient({
    baseUrl: api ?? (run === undefined ? '' : urlOf(run, 'api')),
    payer: tellingPayer({ maxUsd: readNumber('--max', max), isLocal }),
    tries: Infinity,
  })
  return async (method, where, { body, token, key } = {}) => {
    const headers = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(key !== undefined && { 'idempotency-key': key }),
    }
    const sent = body === undefined ? { headers } : { headers, body: JSON.stringify(body) }
    const { status, text: told } = await client.request(method, where, sent)
    return { status, body: bodyOf(told) }
  }
}

/** What is no JSON comes from something before the API. */
function bodyOf(told: string): Record<string, unknown> {
  try {
    return told === '' ? {} : (JSON.parse(told) as Record<string, unknown>)
  } catch {
    return { message: told.slice(0, 200) }
  }
}

function readOwned(file: string): OwnedRules {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as OwnedRules
  } catch (error) {
    if (isMissing(error)) return {}
    throw new UsageError(`${file}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function withRule(owned: OwnedRules, name: string, rule: OwnedRule | undefined): OwnedRules {
  const others = Object.fromEntries(Object.entries(owned).filter(([other]) => other !== name))
  return rule === undefined ? others : { ...others, [name]: rule }
}

/** Whole or not at all. */
function writeOwned(file: string, owned: OwnedRules): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(owned, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

await runCommand(
  {
    usage,
    flags,
    allowPositionals: true,
    expected: [LockError, RuleFileError, UsageError, NotPaidError, NoAnswerError],
  },
  main,
)
