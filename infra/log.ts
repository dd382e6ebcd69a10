import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pino, stdSerializers, type DestinationStream, type Logger } from 'pino'
import type * as pretty from 'pino-pretty'
import { readConfig } from './config/config.ts'
import { settings, type Setting } from './config/settings.ts'

export type { Logger }

type Env = Readonly<Record<string, string | undefined>>

/** For what is loaded where it is used only: a service that writes to a file has no need of it. */
const require = createRequire(import.meta.url)

/** With a shorter password nothing starts: it would strike out what lines are made of. */
const SECRET_LENGTH_MIN = 8

/**
 * The logger of one service: JSON lines, to `to` where it is given, or readable lines on a terminal. Secrets are never
 * passed to it by us; those of settings are struck out where a library's error names them, and so are calls of a node.
 */
export function createLog(service: string, env: Env = process.env, to?: DestinationStream): Logger {
  const { LOG_LEVEL, LOG_FORMAT } = readConfig(env, ['LOG_LEVEL', 'LOG_FORMAT'])
  const secrets = secretsOf(env)
  const streamWrite = (line: string): string => secrets.reduce((text, secret) => text.replaceAll(secret, '***'), line)
  const serializers = { err: toldOf }
  const options = { name: service, level: LOG_LEVEL, base: { name: service }, serializers, hooks: { streamWrite } }
  const isPretty = LOG_FORMAT === 'pretty' || (LOG_FORMAT === 'auto' && process.stdout.isTTY)
  if (!isPretty) return pino({ ...options, timestamp: pino.stdTimeFunctions.isoTime }, to)
  const { PinoPretty } = require('pino-pretty') as typeof pretty
  return pino(
    options,
    PinoPretty({ translateTime: 'SYS:HH:MM:ss.l', ignore: 'pid,hostname,name', messageFormat: '{name}: {msg}' }),
  )
}

/** An error of viem. Its `message` has the call and the request's body, in which a payer's authorization can stand. */
interface NodeError extends Error {
  readonly shortMessage: string
  /** What the node answered: any text, the request in it too. */
  readonly details?: string
}

/** More digits than a hash has: a call, a transaction or a signature. */
const CALL_DATA = /[0-9a-f]{65,}/gi
const DETAILS_MAX = 300
const CAUSES_MAX = 10

/** The message of an error with those of its causes, without calls of a node. */
export function messageOf(error: Error): string {
  const causes = causesOf(error)
  const end = causes.findIndex(isNodeError) + 1
  const message = (each: Error): string => (isNodeError(each) ? nodeMessage(each, causes) : each.message)
  return (end === 0 ? causes : causes.slice(0, end)).map(message).join(': ')
}

function nodeMessage({ shortMessage, details = '' }: NodeError, causes: readonly Error[]): string {
  const statuses = causes.map((each) => ('status' in each ? each.status : undefined))
  const status = statuses.filter((each) => typeof each === 'number').map((each) => `status ${each}`)
  const said = [...status, details.replaceAll(CALL_DATA, '…').slice(0, DETAILS_MAX)].filter((each) => each !== '')
  return [shortMessage.replaceAll(CALL_DATA, '…'), ...said].join('; ')
}

/** What of an error stands in a line. */
function toldOf(error: Error): object {
  const causes = causesOf(error)
  if (!causes.some(isNodeError)) return stdSerializers.err(error)
  const frames = error.stack?.match(/^ {4}at .*$/gm) ?? []
  return {
    type: error.constructor.name,
    message: messageOf(error),
    stack: frames.join('\n').replaceAll(CALL_DATA, '…'),
  }
}

/** The error and what caused it, outermost first. */
function causesOf(error: Error): Error[] {
  const causes: Error[] = []
  for (let each: unknown = error; each instanceof Error && causes.length < CAUSES_MAX; each = each.cause)
    causes.push(each)
  return causes
}

/** By its form: nobody but payments loads viem. */
function isNodeError(error: Error): error is NodeError {
  return 'shortMessage' in error && 'metaMessages' in error
}

/** What must not stand in a line, as JSON has it. */
function secretsOf(env: Env): string[] {
  return Object.entries<Setting>(settings)
    .flatMap(([name, setting]) => [
      ...secretParts(setting, env[name] ?? env[setting.formerly ?? name] ?? ''),
      ...secretParts(setting, setting.secret ? fileText(env[`${name}_FILE`]) : ''),
    ])
    .map((part) => JSON.stringify(part).slice(1, -1))
}

/** Of a file that cannot be read nothing: whoever needs it says so. */
function fileText(file: string | undefined): string {
  try {
    return file ? readFileSync(file, 'utf8').trim() : ''
  } catch {
    return ''
  }
}

/**
 * The text of a secret, or each of a list, without its version; of any address its login, and of a secret one that has more
 * than a host all behind the login.
 */
function secretParts({ secret, kind }: Setting, text: string): string[] {
  if (!text.includes('://') || !URL.canParse(text)) {
    const secrets = kind === 'list' ? text.split(',').map((item) => item.slice(item.indexOf(':') + 1).trim()) : [text]
    return secret ? secrets.filter(({ length }) => length >= SECRET_LENGTH_MIN) : []
  }
  const login = /:\/\/([^/?#]*@)/.exec(text)?.[1] ?? ''
  const { host, pathname, search } = new URL(text)
  const path = pathname + search
  const behind = secret && path.length > 1 ? host + path : ''
  return [login, behind].filter((part) => part !== '')
}
