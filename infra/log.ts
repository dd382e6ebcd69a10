import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pino, type DestinationStream, type Logger } from 'pino'
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
 * passed to it by us; those of settings are struck out where a library's error names them.
 */
export function createLog(service: string, env: Env = process.env, to?: DestinationStream): Logger {
  const { LOG_LEVEL, LOG_FORMAT } = readConfig(env, ['LOG_LEVEL', 'LOG_FORMAT'])
  const secrets = secretsOf(env)
  const streamWrite = (line: string): string => secrets.reduce((text, secret) => text.replaceAll(secret, '***'), line)
  const options = { name: service, level: LOG_LEVEL, base: { name: service }, hooks: { streamWrite } }
  const isPretty = LOG_FORMAT === 'pretty' || (LOG_FORMAT === 'auto' && process.stdout.isTTY)
  if (!isPretty) return pino({ ...options, timestamp: pino.stdTimeFunctions.isoTime }, to)
  const { PinoPretty } = require('pino-pretty') as typeof pretty
  return pino(
    options,
    PinoPretty({ translateTime: 'SYS:HH:MM:ss.l', ignore: 'pid,hostname,name', messageFormat: '{name}: {msg}' }),
  )
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
