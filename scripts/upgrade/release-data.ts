import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { privateKeyToAccount } from 'viem/accounts'
import { payer as examplePayer } from '../../infra/local/chain/accounts.ts'
import { programFile } from '../../infra/local/system.ts'
import { urlOf, type RunFile } from '../../infra/local/run-file.ts'
import { MarketDataClient } from '../clients/typescript/src/index.ts'
import { Payer } from '../clients/typescript/src/payer.ts'
import { startOwnSystem, withoutPast } from '../own-system.ts'

export type Json = Record<string, unknown>

const run = promisify(execFile)
const PATIENCE_MS = 120_000
const AGAIN_MS = 500
/** Opens the backups in this repository, which hold nothing but a simulated market. */
export const RELEASE_KEY = 'a-key-that-everybody-may-know-of-releases-data'
/** Trades of the venues, so that their ids go on. */
export const VENUES = 'venues.tgz'
/** A market of little, whose past is not read back. */
export const SMALL = { PARTITIONS: '1', SYMBOLS: 'BTC', ...withoutPast }
export const FLAGS = ['--seed', '3', '--rate', '5']

/** What a release said before it was backed up: what the next ones have to say of it. */
export interface Told {
  readonly version: string
  /** Of an API key, with its token. */
  readonly key: Json
  /** An alert that rang, whose delivery had failed and is due again. */
  readonly pending: Json
  /** One whose condition held, but not yet for long enough. */
  readonly armed: Json
  /** One that is far from ringing. */
  readonly waiting: Json
}

/**
 * Makes the data of the release that this code is: starts a small system, buys credit, makes alerts, and leaves in
 * `folder` a backup of it (`backup`), what the simulated venues have traded (`VENUES`), and what it said (`told.json`).
 */
export async function writeReleaseData(folder: string, version: string): Promise<Told> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const paid = await startOwnSystem([...FLAGS, '--payments', 'local'], SMALL)
  try {
    const bought = await buyCredit(paid.run(), 1)
    await again(() => spend(paid.run(), bought))
    const key = { ...(await again(() => charged(paid.run(), bought))), api_key: bought['api_key'] }
    await paid.stop()
    // an alert without an end is to be had where nothing is paid for; nobody is at the address
    const env = { ...SMALL, CHANNEL_BASES: 'slack=https://127.0.0.1:9' }
    const free = await startOwnSystem([...FLAGS, '--payments', 'off'], env, paid.data)
    try {
      const pending = await make(free.run(), 'pending', 1, { repeat: false })
      await again(() => failed(free.run(), pending))
      const waiting = await make(free.run(), 'waiting', 100_000_000, {})
      const armed = await make(free.run(), 'armed', 1, { repeat: false, held_for: '1m' })
      const told = { version, key, pending, armed, waiting }
      const args = ['--to', path.join(folder, 'backup'), '--data', free.data]
      const keyed = { env: { ...process.env, BACKUP_KEY: RELEASE_KEY } }
      await run(process.execPath, [programFile('scripts/backup.ts'), ...args], keyed)
      if (Number((await askFree(free.run(), `/alerts/${String(armed['alert_id'])}`))['trigger_count']) > 0)
        throw new Error('it rang before it was backed up')
      writeFileSync(path.join(folder, 'told.json'), `${JSON.stringify(told, null, 2)}\n`)
      await free.stop()
      await run('tar', [
        '-czf',
        path.join(folder, VENUES),
        '-C',
        path.join(free.data, 'demo/simulator'),
        'simulator/market',
      ])
      return told
    } finally {
      await free.stop()
    }
  } finally {
    await paid.dispose()
  }
}

async function make(at: RunFile, name: string, value: number, terms: Json): Promise<Json> {
  const channel = { type: 'slack', url: 'https://hooks.slack.com/services/T0TEAM/B0HOOK/slack-secret' }
  const when = { metric: 'price', operator: 'above', value }
  const body = { symbol: 'BTC', when, note: noteOf(name), channel, expires_in_hours: 0, ...terms }
  const headers = { 'content-type': 'application/json', 'idempotency-key': name }
  return again(async () => {
    const answer = await fetch(`${urlOf(at, 'api')}/alerts`, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`/alerts: ${answer.status} ${await answer.text()}`)
    const { alert_id, manage_token } = (await answer.json()) as Json
    return { alert_id, manage_token }
  })
}

/** Credit of a new key, with play money: paid once, and asked for again until a system that has just begun gives it. */
export async function buyCredit(at: RunFile, usdc: number): Promise<Json> {
  const payer = new Payer(privateKeyToAccount(examplePayer.key), { maxPerCallUsdc: usdc, totalUsdc: usdc })
  const client = new MarketDataClient({ baseUrl: urlOf(at, 'api'), payer, deadlineMs: PATIENCE_MS, tries: Infinity })
  return { ...(await client.creditBuy({ amount_usdc: usdc })) }
}

/** What is told for nothing, or to who has `token`. Throws where it is refused. */
export async function askFree(at: RunFile, route: string, token?: string): Promise<Json> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const response = await fetch(urlOf(at, 'api') + route, { headers })
  if (!response.ok) throw new Error(`${route}: ${response.status} ${await response.text()}`)
  const { timestamp: _timestamp, ...rest } = (await response.json()) as Json
  return rest
}

/** What the message of an alert says of itself. */
export function noteOf(name: string): string {
  return `this is the ${name} one`
}

/** Once an attempt to deliver what rang has failed. */
async function failed(at: RunFile, { alert_id, manage_token }: Json): Promise<void> {
  const told = await askFree(at, `/alerts/${String(alert_id)}/deliveries`, String(manage_token))
  if ((told['deliveries'] as unknown[]).length === 0) throw new Error('nothing was tried yet')
}

/** Asks once and lets the credit of a key pay. */
async function spend(at: RunFile, key: Json): Promise<void> {
  const answer = await fetch(`${urlOf(at, 'api')}/cvd/BTC`, { headers: { 'x-api-key': String(key['api_key']) } })
  if (!answer.ok || !answer.headers.has('credit-charged')) throw new Error(`${answer.status} ${await answer.text()}`)
  await answer.arrayBuffer()
}

/** The key as it is told, once a request was charged to it. */
async function charged(at: RunFile, { key_id, api_key }: Json): Promise<Json> {
  const told = await askFree(at, `/keys/${String(key_id)}`, String(api_key))
  if (told['charged_usdc'] === 0) throw new Error('nothing was charged yet')
  return told
}

/** Asks until it is answered: a system that has just begun refuses at first. */
export async function again<Value>(ask: () => Promise<Value>): Promise<Value> {
  const until = Date.now() + PATIENCE_MS
  for (;;)
    try {
      return await ask()
    } catch (error) {
      if (Date.now() > until) throw error
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
}
