import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { sayReady } from '../infra/lifecycle.ts'
import { NoOpensslError, receiverCertificate } from '../infra/local/receiver/certificate.ts'
import { misbehaviours, readManner, type Manner } from '../infra/local/receiver/misbehave.ts'
import { startLocalReceiver, checkedWords, eventWords } from '../infra/local/receiver/receiver.ts'
import { readRunFile } from '../infra/local/run-file.ts'
import { runCommand, text, UsageError, type Values } from './command/command.ts'

const PORT = 4443
const HOST = '127.0.0.1'

const usage = `npm run receiver -- [flags]: a local HTTPS receiver of webhooks; verifies their signatures and prints them.

  --port N            default ${PORT}
  --secret whsec_...  an alert's webhook_secret; may be given several times
  --data DIR          data folder of npm start, whose dispatcher trusts this receiver (default .data)
  --ledger FILE       where what came is written (default <data>/<mode>/receiver/ledger.jsonl)
  --misbehave HOW     ok, a status (500, 410, 429, ...), or:
${Object.entries(misbehaviours)
  .map(([name, says]) => `                        ${name.padEnd(9)}${says}`)
  .join('\n')}
  --help              this text

While it runs:
  curl -k https://localhost:${PORT}/secrets -d '<the answer of an alert’s creation>'   # so that it can verify
  curl -k https://localhost:${PORT}/misbehave -d '{"manner":"500"}'

What came is in the ledger, a line of JSON each: when, how it was answered, its signatures and its body.`

interface Task {
  readonly port: number
  readonly secrets: readonly string[]
  readonly data: string
  readonly ledger: string | undefined
  readonly manner: Manner
}

const flags = { port: text, secret: { ...text, multiple: true }, data: text, ledger: text, misbehave: text } as const

async function receive({ port, secrets, data, manner, ...given }: Task): Promise<void> {
  const folder = modeFolder(data)
  const { cert, key, caFile } = await certificateIn(folder)
  const ledger = given.ledger ?? path.join(folder, 'receiver', 'ledger.jsonl')
  mkdirSync(path.dirname(ledger), { recursive: true })
  const receiver = await startLocalReceiver({
    cert,
    key,
    host: HOST,
    port,
    secrets,
    manner,
    ledger,
    onEvent: (entry) => console.log(`${eventWords(entry)}\n`),
    onChecked: (entry) => console.log(`${checkedWords(entry)}\n`),
    now: () => new Date(),
  })
  console.log(`Listening at ${receiver.url}/: give it as webhook_url. Manner: ${manner}. Ledger: ${ledger}`)
  console.log(`Its authority: ${caFile} (the demo trusts it; elsewhere WEBHOOK_CA_FILE). Ctrl-C ends it.\n`)
  const stop = (): void => void receiver.close().then(() => process.exit(0))
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  process.once('disconnect', stop) // who started us is gone
  sayReady(receiver.url)
}

/** Where the running system keeps its data; where none runs, the demo's. */
function modeFolder(data: string): string {
  return readRunFile(data)?.data ?? path.join(path.resolve(data), 'demo')
}

async function certificateIn(folder: string): ReturnType<typeof receiverCertificate> {
  try {
    return await receiverCertificate(folder, new Date())
  } catch (error) {
    throw error instanceof NoOpensslError ? new UsageError(error.message) : error
  }
}

function readTask(values: Values<typeof flags>): Task {
  const port = values.port === undefined ? PORT : Number(values.port)
  const manner = readManner(values.misbehave ?? 'ok')
  const secrets = values.secret ?? []
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw wrong('--port must be a number up to 65535')
  if (manner === undefined) throw wrong(`--misbehave ${values.misbehave}: there is no such manner`)
  if (secrets.some((secret) => !secret.startsWith('whsec_'))) throw wrong('--secret must begin with whsec_')
  return { port, secrets, data: values.data ?? '.data', ledger: values.ledger, manner }
}

const wrong = (what: string): UsageError => new UsageError(`${what}\n\n${usage}`)

await runCommand({ usage, flags }, (values) => receive(readTask(values)))
