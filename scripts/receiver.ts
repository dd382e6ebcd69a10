import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { NoOpensslError, receiverCertificate } from '../infra/local/receiver/certificate.ts'
import { misbehaviours, readManner, type Manner } from '../infra/local/receiver/misbehave.ts'
import { startLocalReceiver } from '../infra/local/receiver/receiver.ts'
import { checkedWords, eventWords } from '../infra/local/receiver/words.ts'
import { readRunFile } from '../infra/local/run-file.ts'

const PORT = 4443
const HOST = '127.0.0.1'

const help = `npm run receiver -- [flags]: a local HTTPS receiver of webhooks; verifies their signatures and prints them.

  --port N            default ${PORT}
  --secret whsec_...  an alert's webhook_secret; may be given several times
  --data DIR          data folder of npm start, whose dispatcher trusts this receiver (default .data)
  --misbehave HOW     ok, a status (500, 410, 429, ...), or:
${Object.entries(misbehaviours)
  .map(([name, says]) => `                        ${name.padEnd(9)}${says}`)
  .join('\n')}
  --help              this text

While it runs:
  curl -k https://localhost:${PORT}/secrets -d '<the answer of an alert’s creation>'   # so that it can verify
  curl -k https://localhost:${PORT}/misbehave -d '{"manner":"500"}'

What came is in <data>/<mode>/receiver/ledger.jsonl.`

interface Task {
  readonly port: number
  readonly secrets: readonly string[]
  readonly data: string
  readonly manner: Manner
}

const task = readTask()
if (task !== undefined) await receive(task)

async function receive({ port, secrets, data, manner }: Task): Promise<void> {
  const folder = modeFolder(data)
  const { cert, key, caFile } = await certificateIn(folder)
  mkdirSync(path.join(folder, 'receiver'), { recursive: true })
  const ledger = path.join(folder, 'receiver', 'ledger.jsonl')
  const receiver = await startLocalReceiver({
    cert,
    key,
    host: HOST,
    port,
    secrets,
    manner,
    ledger,
    onEvent: (entry, body) => console.log(`${eventWords(entry, body)}\n`),
    onChecked: (entry) => console.log(`${checkedWords(entry)}\n`),
    now: () => new Date(),
  })
  console.log(`Listening at ${receiver.url}/: give it as webhook_url. Manner: ${manner}. Ledger: ${ledger}`)
  console.log(`Its authority: ${caFile} (the demo trusts it; elsewhere WEBHOOK_CA_FILE). Ctrl-C ends it.\n`)
  const stop = (): void => void receiver.close().then(() => process.exit(0))
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
}

/** Where the running system keeps its data; where none runs, the demo's. */
function modeFolder(data: string): string {
  return readRunFile(data)?.data ?? path.join(path.resolve(data), 'demo')
}

async function certificateIn(folder: string): ReturnType<typeof receiverCertificate> {
  try {
    return await receiverCertificate(folder, new Date())
  } catch (error) {
    if (!(error instanceof NoOpensslError)) throw error
    console.error(error.message)
    process.exit(2)
  }
}

function readTask(): Task | undefined {
  const text = { type: 'string' } as const
  const options = {
    port: text,
    secret: { type: 'string', multiple: true },
    data: text,
    misbehave: text,
    help: { type: 'boolean' },
  } as const
  const values = valuesOf(() => parseArgs({ options }).values)
  if (values === undefined) return undefined
  if (values.help === true) {
    console.log(help)
    return undefined
  }
  const port = values.port === undefined ? PORT : Number(values.port)
  const manner = readManner(values.misbehave ?? 'ok')
  const secrets = values.secret ?? []
  if (!Number.isInteger(port) || port < 0 || port > 65_535) return complain('--port must be a number up to 65535')
  if (manner === undefined) return complain(`--misbehave ${values.misbehave}: there is no such manner`)
  if (secrets.some((secret) => !secret.startsWith('whsec_'))) return complain('--secret must begin with whsec_')
  return { port, secrets, data: values.data ?? '.data', manner }
}

function valuesOf<Values>(read: () => Values): Values | undefined {
  try {
    return read()
  } catch (error) {
    return complain(error instanceof Error ? error.message : String(error))
  }
}

function complain(what: string): undefined {
  console.error(`${what}\n\n${help}`)
  process.exitCode = 2
}
