import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { flag, runCommand, text, UsageError, type Values } from './command/command.ts'

const usage = `npm run release -- --dry-run [--out DIR]: packages of both clients, of the version in package.json.
npm run release -- --data: what a system of this version leaves behind, for the tests of the versions after it.

  --dry-run  makes packages and publishes nothing; there is no other way yet
  --out DIR  where they go (default .cache/release): an npm package (.tgz) and a Python wheel (.whl)
  --data     starts a small system, which takes a minute or two, and writes scripts/upgrade/releases/VERSION, to be committed
  --help     this text

The wheel is made by PYTHON (default python3), 3.11 or newer with pip; without setuptools 77 pip fetches it.
Exit 0: all is there, a line each; 2: what the last line says.`

const run = promisify(execFile)
const root = path.resolve(import.meta.dirname, '..')
const clients = path.join(root, 'scripts/clients')
const DEADLINE_MS = 240_000
/** The first setuptools that knows the words of our pyproject.toml. */
const SETUPTOOLS = 77

interface Work {
  readonly version: string
  /** Where sources are put together, since a build leaves its traces among them. */
  readonly scratch: string
  readonly out: string
}

const flags = { 'dry-run': flag, data: flag, out: text } as const

async function main(values: Values<typeof flags>): Promise<void> {
  if (values.data === true) return writeData()
  if (values['dry-run'] !== true)
    throw new UsageError('nothing is published from here: --dry-run makes the packages, --data the data')
  const out = path.resolve(values.out ?? path.join(root, '.cache/release'))
  mkdirSync(out, { recursive: true })
  const scratch = mkdtempSync(path.join(tmpdir(), 'release-'))
  const { version } = packageIn(root)
  try {
    console.log(await packNpm({ version, scratch, out }))
    console.log(await packWheel({ version, scratch, out }))
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function writeData(): Promise<void> {
  const { version } = packageIn(root)
  const folder = path.join(root, 'scripts/upgrade/releases', version)
  const { writeReleaseData } = await import('./upgrade/release-data.ts') // what it needs takes a second to load
  await writeReleaseData(folder, version)
  console.log(folder)
}

function packageIn(folder: string): { readonly version: string } {
  return JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as { version: string }
}

/** The path of the npm package. */
async function packNpm({ version, scratch, out }: Work): Promise<string> {
  const source = path.join(clients, 'typescript')
  const folder = path.join(scratch, 'typescript')
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc')
  await command(process.execPath, [compiler, '-p', source, '--outDir', path.join(folder, 'dist')])
  cpSync(path.join(source, 'README.md'), path.join(folder, 'README.md'))
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ ...packageIn(source), version }, null, 2))
  const told = await command('npm', ['pack', '--json', '--pack-destination', out], folder)
  return path.join(out, nameIn(told, /[\w.-]+\.tgz/))
}

/** The path of the wheel. */
async function packWheel({ version, scratch, out }: Work): Promise<string> {
  const python = process.env['PYTHON'] ?? 'python3'
  const folder = path.join(scratch, 'python')
  for (const name of ['README.md', 'market_data_alerts'])
    cpSync(path.join(clients, 'python', name), path.join(folder, name), { recursive: true })
  const project = readFileSync(path.join(clients, 'python/pyproject.toml'), 'utf8')
  writeFileSync(path.join(folder, 'pyproject.toml'), project.replace(/^version = .*$/m, `version = "${version}"`))
  const check = `from importlib.metadata import version; assert int(version("setuptools").split(".")[0]) >= ${SETUPTOOLS}`
  const hasBackend = await run(python, ['-c', check]).then(
    () => true,
    () => false,
  )
  const offline = hasBackend ? ['--no-build-isolation', '--no-index'] : []
  const told = await command(python, ['-m', 'pip', 'wheel', '--no-deps', ...offline, '--wheel-dir', out, folder])
  return path.join(out, nameIn(told, /[\w.-]+\.whl/))
}

/** What `program` says on its standard output. Throws with what it said otherwise. */
async function command(program: string, args: readonly string[], cwd = root): Promise<string> {
  try {
    return (await run(program, [...args], { cwd, timeout: DEADLINE_MS })).stdout
  } catch (error) {
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : ''
    const mend = program === 'npm' || program === process.execPath ? '' : ' (PYTHON names another interpreter)'
    throw new UsageError(`${program} could not make the package${mend}: ${output === '' ? String(error) : output}`)
  }
}

function nameIn(told: string, pattern: RegExp): string {
  const [name] = pattern.exec(told) ?? []
  if (name === undefined) throw new Error(`no package is named in: ${told}`)
  return name
}

await runCommand({ usage, flags, expected: [] }, main)
