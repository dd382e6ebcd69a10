import { createHash } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { startChild } from '../../../infra/local/child.ts'
import { checkAgain, entriesOf, type Entry } from '../../../infra/local/receiver/receiver.ts'
import { programFile } from '../../../infra/local/system.ts'

const READY_MS = 60_000
const STOP_MS = 5_000
const READ_BYTES = 256 * 1024
const NEW_LINE = 10

/** What came of one trigger: by itself, or in a digest. */
export interface Delivered {
  /** As its owner knows it. */
  readonly alertId: string
  readonly symbol: string
  readonly count: number
  readonly test: boolean
  /** SHA-256 of its event as it came first; what differs from it under the same id is wrong. */
  readonly body: string
  /** Host's milliseconds of its first byte. */
  readonly first: number
  attempts: number
  /** Attempts that were answered with a success: host's milliseconds of each. */
  readonly taken: number[]
  /** One of them was a digest. */
  isDigested: boolean
}

/** A receiver with an account of what came, which shares no code with the dispatcher. */
export interface Receiver {
  readonly url: string
  /** As of now. */
  readonly deliveries: ReadonlyMap<string, Delivered>
  /** What was wrong with a delivery, with its id, as of now. */
  readonly wrong: readonly string[]
  /** Tells it the secret of an alert; without it a delivery is taken and its signature looked at later. */
  know(alertId: string, secret: string): void
  close(): Promise<void>
}

/** An event as the documentation has it. */
interface Event {
  readonly alert_id: string
  readonly symbol: string
  readonly trigger_id: string
  readonly test?: boolean
  readonly data: { readonly trigger_count: number }
}

interface Digest {
  readonly event: 'digest'
  readonly trigger_id: string
  readonly alert_id: string
  readonly count: number
  readonly events: readonly Event[]
}

/**
 * Starts `npm run receiver` on a free port in a process of its own, so that it takes what comes also while this one is busy,
 * and reads what it writes into its ledger. `folder`: of a running system's mode, whose dispatcher trusts it.
 */
export async function startReceiver(folder: string, manner: 'ok' | 'flaky' = 'ok'): Promise<Receiver> {
  const ledger = path.join(folder, 'receiver', 'account.jsonl')
  mkdirSync(path.dirname(ledger), { recursive: true })
  writeFileSync(ledger, '') // begun anew
  const flags = ['--port', '0', '--data', folder, '--ledger', ledger, '--misbehave', manner]
  const child = await startChild({
    name: 'receiver',
    command: [process.execPath, programFile('scripts/receiver.ts'), ...flags],
    logFile: path.join(folder, 'logs', 'receiver.log'),
    ready: 'message',
    readyWithinMs: READY_MS,
    stopWithinMs: STOP_MS,
  })
  const account = new Account(ledger)
  let isClosed = false
  const onExit = (): void => {
    if (!isClosed) account.wrong.push('the receiver has ended by itself')
  }
  void child.exited.then(onExit)
  return {
    url: child.url,
    get deliveries() {
      account.read()
      return account.deliveries
    },
    get wrong() {
      account.read()
      return account.wrong
    },
    know: (alertId, secret) => account.know(alertId, secret),
    close: async () => {
      isClosed = true
      await child.stop()
      account.close()
    },
  }
}

/** What a ledger comes to, read on from where it was left off. */
class Account {
  readonly deliveries = new Map<string, Delivered>()
  readonly wrong: string[] = []
  readonly #file: number
  readonly #chunk = Buffer.alloc(READ_BYTES)
  /** Of a line that is not whole yet. */
  #rest = Buffer.alloc(0)
  readonly #secrets = new Map<string, string>()
  /** By alert: it can ring before its creation is answered. */
  readonly #waiting = new Map<string, Entry[]>()

  constructor(ledger: string) {
    this.#file = openSync(ledger, 'r')
  }

  know(alertId: string, secret: string): void {
    this.#secrets.set(alertId, secret)
    for (const waiting of this.#waiting.get(alertId) ?? []) this.#check(secret, waiting)
    this.#waiting.delete(alertId)
  }

  read(): void {
    for (let size = this.#next(); size > 0; size = this.#next()) {
      const bytes = Buffer.concat([this.#rest, this.#chunk.subarray(0, size)])
      const end = bytes.lastIndexOf(NEW_LINE) + 1
      this.#rest = bytes.subarray(end)
      for (const entry of entriesOf(bytes.toString('utf8', 0, end))) this.#take(entry)
    }
  }

  close(): void {
    closeSync(this.#file)
  }

  #next(): number {
    return readSync(this.#file, this.#chunk)
  }

  #take(entry: Entry): void {
    try {
      this.#enter(entry)
    } catch (error) {
      this.wrong.push(`${entry.id}: it cannot be read: ${String(error)}`)
    }
  }

  #enter(entry: Entry): void {
    const { id, began, alert_id: alertId } = entry
    const said = JSON.parse(entry.body) as Event | Digest
    const events = 'events' in said ? said.events : [said]
    const isDigest = 'events' in said
    if (said.trigger_id !== decodeURIComponent(id)) this.wrong.push(`${id}: its body is of ${said.trigger_id}`)
    if (isDigest && (said.count !== events.length || events.length < 2))
      this.wrong.push(`${id}: a digest of ${said.count} that has ${events.length}`)
    for (const { alert_id } of events) if (alert_id !== alertId) this.wrong.push(`${id}: it tells ${alert_id} too`)
    const secret = this.#secrets.get(alertId)
    if (secret !== undefined) this.#check(secret, entry)
    else this.#waiting.set(alertId, [...(this.#waiting.get(alertId) ?? []), entry])
    for (const known of events.map((event) => this.#enterEvent(event, began))) {
      if (entry.manner !== 'ok') continue
      known.taken.push(began)
      known.isDigested ||= isDigest
    }
  }

  #enterEvent(event: Event, first: number): Delivered {
    const { trigger_id: id, alert_id: alertId, symbol, test, data } = event
    const hash = createHash('sha256').update(JSON.stringify(event)).digest('hex')
    const fresh = { alertId, symbol, count: data.trigger_count, test: test === true, body: hash, first }
    const known = this.deliveries.get(id) ?? { ...fresh, attempts: 0, taken: [], isDigested: false }
    this.deliveries.set(id, known)
    if (known.body !== hash) this.wrong.push(`${id}: another body under the same id`)
    known.attempts += 1
    return known
  }

  #check(secret: string, entry: Entry): void {
    const verdict = checkAgain(entry, secret)
    if (verdict === 'wrong') this.wrong.push(`${entry.id}: its signatures are not the alert's`)
    else if (verdict === 'stale') this.wrong.push(`${entry.id}: it was signed at another time`)
  }
}
