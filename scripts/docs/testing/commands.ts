import { readdirSync, readFileSync } from 'node:fs'

/** The commands that the front page and the guides tell people to run. */

/** One fenced `sh` block: what a reader pastes at once. */
export interface Block {
  readonly document: string
  readonly commands: readonly string[]
}

const root = new URL('../../../', import.meta.url)
const GUIDES = 'api/docs/guides/'

/** Every block of the documents that people follow, in order. */
export function documentedBlocks(): readonly Block[] {
  const guides = readdirSync(new URL(GUIDES, root)).map((name) => GUIDES + name)
  return ['README.md', ...guides].flatMap((document) =>
    blocksIn(readFileSync(new URL(document, root), 'utf8')).map((commands) => ({ document, commands })),
  )
}

/** The commands of each `sh` block of a text; a line that ends with a backslash goes on. */
export function blocksIn(text: string): string[][] {
  return [...text.matchAll(/^( *)```sh\n([^]*?)\n\1```$/gm)].map(([, indent = '', block = '']) =>
    block
      .split('\n')
      .map((line) => line.slice(indent.length))
      .join('\n')
      .split(/(?<!\\)\n/)
      .filter((command) => command.trim() !== '' && !command.startsWith('#')),
  )
}

/** Where a command is run, or why it is not. */
export type Plan = 'free' | 'paid' | { readonly notRun: string }

/** What no test runs, by how it begins, and why. */
export const notRun: readonly (readonly [begin: string, why: string])[] = [
  ['npm ci', 'the checkout that is tested is installed by it'],
  ['npm start', 'the test starts the system itself, on free ports; scripts/start.test.ts has its flags'],
  ['npm run cluster', 'starts sixteen processes and stays; chaos -- --own --cluster starts the same'],
  ['npm run chaos', 'takes as long as it is told to; scripts/chaos has tests of its parts'],
  ['PAYMENTS=x402', 'needs a real network; processors/payments/terms.test.ts has its settings'],
  ['npm run receiver', 'stays in its terminal: the test starts it before everything else'],
  ['npm run backtest -- --source tape', 'takes minutes; scripts/backtest/backtest.real.test.ts replays tapes'],
  ['npm run backtest -- --mode archive', 'needs an archive; scripts/backtest/backtest.real.test.ts replays one'],
  ['openssl rand', 'makes a key; infra/backup has tests with keys of their own'],
  ['BACKUP_KEY_FILE=', 'needs a key and an empty system; infra/backup/backup.real.test.ts backs up and restores'],
  ['npm run import', 'needs an archive that is downloaded; scripts/import has tests with archives of its own'],
  ['CLICKHOUSE_PASSWORD=', 'needs a container engine; infra/docker/compose.test.ts checks the file'],
  ['kubectl ', 'needs a cluster of Kubernetes; infra/kubernetes/kubernetes.test.ts checks the commands'],
  ['npm run release', 'needs Python; scripts/release.real.test.ts makes both packages'],
  ['npm install packages', 'needs a project of the reader; scripts/release.real.test.ts installs the package'],
  ["pip install './scripts", 'needs a package registry; scripts/clients/python/client.test.ts runs the package'],
  ['jupyter lab', 'stays in its terminal; scripts/notebooks/notebooks.real.test.ts runs the notebooks'],
  ["curl -s 'http://127.0.0.1:3000/records/RECORD'", 'the test asks for the record of the webhook that came'],
]

export function planOf(document: string, command: string): Plan {
  const known = notRun.find(([begin]) => command.startsWith(begin))
  if (known !== undefined) return { notRun: known[1] }
  return document.endsWith('/paying.md') || command.startsWith('npm run pay') ? 'paid' : 'free'
}

/** The addresses of a running system, for those that are written. */
export interface SystemAddresses {
  readonly api: string
  readonly clickhouse: string
  readonly receiver: string
  /** Its data folder. */
  readonly data: string
}

const DATA_SCRIPTS = new Set(['backfill', 'backtest', 'export', 'pay', 'trace'])

/** The command for that system: its addresses, its data folder, and no npm between, which would print its own lines. */
export function withAddresses(command: string, { api, clickhouse, receiver, data }: SystemAddresses): string {
  const file = (name: string): string => new URL(`scripts/${name}.ts`, root).pathname
  return command
    .replaceAll('http://127.0.0.1:3000', api)
    .replaceAll('http://127.0.0.1:8123', clickhouse)
    .replaceAll('https://localhost:4443', receiver)
    .replace(/^npm run (\w+) --/, (_, name: string) => {
      const folder = DATA_SCRIPTS.has(name) ? ` --data '${data}'` : ''
      return `'${process.execPath}' '${file(name)}'${folder}`
    })
    .replace(/^curl -s/, 'curl --fail-with-body -s')
}
