import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'

/** The house rules, read off the source text: what enters is a file, what leaves is each line that breaks a rule. */
export interface SourceFile {
  /** From the checkout's root, with forward slashes. */
  readonly path: string
  readonly text: string
}

export interface Breach {
  readonly path: string
  readonly line: number
  readonly rule: Rule
  readonly what: string
}

export type Rule = 'imports' | 'purity' | 'types' | 'tests' | 'words'

const folders = ['schemas', 'processors', 'api', 'infra', 'scripts']

/** All source files of the product below `root`. */
export function sourceFiles(root: string): SourceFile[] {
  return (
    folders
      .flatMap((folder) =>
        readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
      )
      // A client that tests pay with may be installed below scripts/clients.
      .filter((file) => file.endsWith('.ts') && !file.includes('node_modules'))
      .map((file) => ({ path: file.replaceAll(path.sep, '/'), text: readFileSync(path.join(root, file), 'utf8') }))
  )
}

/** Benches and fault tests are tests, but for the runner. */
const measuring = /^scripts\/(?:bench|chaos)\//

/** The rules and their test quote what they forbid. */
const quoting = /^scripts\/(?:testing\/rules|rules\.test)\.ts$/

/** Every breach in `file`. A line that says `// rule: <name> - <reason>`, or stands below one, is excepted from that rule. */
export function breachesOf(file: SourceFile): Breach[] {
  const lines = file.text.split('\n')
  const found = [...imports(file, lines), ...purity(file, lines), ...types(file, lines), ...tests(file, lines)]
  return [...found, ...words(file, lines)].filter(({ rule, line }) => !isExcepted(lines, rule, line))
}

function isExcepted(lines: readonly string[], rule: Rule, line: number): boolean {
  const reason = new RegExp(`// rule: ${rule} - \\S.{4,}`)
  return [lines[line - 1], lines[line - 2]].some((text) => text !== undefined && reason.test(text))
}

type Layer = 'schemas' | 'kernel' | 'core' | 'shell' | 'main' | 'infra' | 'api' | 'browser' | 'scripts'

/** Which layer may import which; `shell` is the impure half of feeds and webhooks, `main` a host of processors, `browser` what runs in one. */
const mayImport: Readonly<Record<Layer, readonly Layer[]>> = {
  schemas: ['schemas'],
  kernel: ['schemas', 'kernel'],
  core: ['schemas', 'kernel', 'core'],
  shell: ['schemas', 'kernel', 'core', 'shell', 'infra'],
  main: ['schemas', 'kernel', 'core', 'shell', 'main', 'infra'],
  infra: ['schemas', 'infra'],
  api: ['schemas', 'kernel', 'core', 'infra', 'api'],
  browser: ['browser'],
  scripts: ['schemas', 'kernel', 'core', 'shell', 'main', 'infra', 'api', 'scripts'],
}

/**
 * The files and folders of `processors/` that act; everything else there is pure. A new one is added here, with what it
 * does to the world, or it is not one.
 */
const shells: readonly (readonly [RegExp, string])[] = [
  [/^processors\/(?:host|metrics)\.ts$/, 'connects a process to its log, and tells how it is'],
  [/^processors\/feeds\/main\.ts$/, 'hosts the feeds'],
  [/^processors\/feeds\/transport\//, 'connects to venues'],
  [/^processors\/feeds\/runtime\//, 'runs the feeds: the log, timers, the clock, tapes'],
  [/^processors\/webhooks\/main\.ts$/, 'hosts the dispatcher'],
  [/^processors\/webhooks\/(?:dispatcher|task|journal|loader|recall|metrics)\.ts$/, 'reads and writes the log'],
  [/^processors\/webhooks\/(?:deliver|agent)\.ts$/, 'calls receivers'],
  [/^processors\/payments\/main\.ts$/, 'hosts the settling of payments'],
  [/^processors\/payments\/(?:service|settlement|metrics)\.ts$/, 'reads and writes the log'],
  [
    /^processors\/payments\/(?:chain|readiness|wallet|own-settler|facilitator)\.ts$/,
    'calls the chain, or a facilitator',
  ],
]

function layerOf(file: string): Layer {
  const [top = '', second = ''] = file.split('/')
  if (file.startsWith('api/console/web/')) return 'browser'
  if (file.startsWith('scripts/backtest/core/')) return 'core'
  if (top === 'schemas' || top === 'infra' || top === 'api' || top === 'scripts') return top
  if (second === 'kernel') return 'kernel'
  if (second === 'main.ts' || second.startsWith('topology')) return 'main'
  return isShell(file) ? 'shell' : 'core'
}

function isShell(file: string): boolean {
  return shells.some(([pattern]) => pattern.test(file))
}

const importPath =
  /^(?:import|export)\s+(type\s)?[^'"]*?['"](\.[^'"]+)['"]|^\} from ['"](\.[^'"]+)['"]|\bimport\(['"](\.[^'"]+)['"]\)/

function imports(file: SourceFile, lines: readonly string[]): Breach[] {
  if (isTest(file.path)) return [] // a test may reach for a stand-in or a driver
  const from = layerOf(file.path)
  return lines.flatMap((text, index) => {
    const target = importTarget(text)
    if (target === undefined) return []
    const wanted = path.posix.join(path.posix.dirname(file.path), target)
    // The seam's types may be named anywhere: they are what keeps the client behind them replaceable.
    if (wanted === 'infra/kafka/seam.ts' && isTypeImport(lines, index)) return []
    if (isTest(wanted) && !measuring.test(file.path))
      return [breach(file, index, 'imports', `${from} imports what only tests may (${wanted})`)]
    const to = layerOf(wanted)
    const allowed = mayImport[from].includes(to)
    return allowed ? [] : [breach(file, index, 'imports', `${from} imports ${to} (${wanted})`)]
  })
}

function importTarget(text: string): string | undefined {
  const match = importPath.exec(text)
  return match === null ? undefined : (match[2] ?? match[3] ?? match[4])
}

/** An import over several lines says `type` on its first one. */
function isTypeImport(lines: readonly string[], index: number): boolean {
  for (let at = index; at >= 0; at--) {
    const text = lines[at] ?? ''
    if (/^(?:import|export)\b/.test(text)) return /^(?:import|export) type\b/.test(text)
  }
  return false
}

const impure: readonly (readonly [RegExp, string])[] = [
  [/\bDate\.now\(/, 'reads the clock'],
  [/\bnew Date\(\s*\)/, 'reads the clock'],
  [/\bperformance\.now\(/, 'reads the clock'],
  [/\bMath\.random\(|\brandom(?:Bytes|UUID|Int)\(/, 'is random'],
  [/\bprocess\.(?:env|argv|hrtime|on|exit|pid)\b/, 'reads the process'],
  [/\bset(?:Timeout|Interval|Immediate)\(/, 'waits'],
  [/(?:[=(]|\breturn|\bawait)\s*fetch\(/, 'does IO'],
  [
    /from ['"](?:node:(?!crypto|buffer|assert|util|path|url)|ws['"]|kafkajs|koa|@clickhouse|pino|chdb)/,
    'imports what does IO',
  ],
]

/** Decisions and parsers are plain functions; the kernel and the feeds' repairs may wait for what was handed to them. */
const asynchronous = [/\bawait\b/, 'waits'] as const

/** Pure: the contract (but for the codec's reading of its own schema files), kernel core, processor cores, venue code. */
export function isPure(file: string): boolean {
  if (isTest(file)) return false
  const layer = layerOf(file)
  return layer === 'schemas' || layer === 'core' || layer === 'kernel'
}

function purity(file: SourceFile, lines: readonly string[]): Breach[] {
  if (!isPure(file.path)) return []
  const waits = /^processors\/(?:kernel|feeds\/trades)\/[^/]+$/.test(file.path)
  const rules = waits ? impure : [...impure, asynchronous]
  return lines.flatMap((text, index) => {
    const code = withoutComment(text)
    return rules.filter(([pattern]) => pattern.test(code)).map(([, what]) => breach(file, index, 'purity', what))
  })
}

const typeHoles: readonly (readonly [RegExp, string])[] = [
  [/(?:oxlint|eslint)-disable(?!.* - \S{3,})/, 'switches the linter off without a reason'],
  [/prettier-ignore/, 'switches the formatter off'],
  [/\bas unknown as\b/, 'casts through unknown'],
]

function types(file: SourceFile, lines: readonly string[]): Breach[] {
  return quoting.test(file.path) ? [] : matches(file, lines, 'types', typeHoles)
}

const testHoles: readonly (readonly [RegExp, string])[] = [
  [/\b(?:it|test)\.fails\(/, 'is to fail'],
  [/\bsetTimeout\(\s*\w+,\s*\d{3,}/, 'sleeps'],
]

function tests(file: SourceFile, lines: readonly string[]): Breach[] {
  return isTest(file.path) && !quoting.test(file.path) ? matches(file, lines, 'tests', testHoles) : []
}

/** Written so that this table does not match itself. */
const forbidden: readonly (readonly [RegExp, string])[] = [
  [/\b(?:TO[D]O|FIX[M]E|XX[X]|HA[C]K)\b/, 'unfinished work'],
  [/(?:^|[\s'"`(=])\/(?:home|root|Users|work)\//, 'a path of one machine'],
]

function words(file: SourceFile, lines: readonly string[]): Breach[] {
  return matches(file, lines, 'words', forbidden)
}

/** The words are forbidden in every text of the product, not in its source alone. */
export function forbiddenWords(file: SourceFile): Breach[] {
  return words(file, file.text.split('\n'))
}

function matches(
  file: SourceFile,
  lines: readonly string[],
  rule: Rule,
  patterns: readonly (readonly [RegExp, string])[],
): Breach[] {
  return lines.flatMap((text, index) =>
    patterns.filter(([pattern]) => pattern.test(text)).map(([, what]) => breach(file, index, rule, what)),
  )
}

/** Line and block comments tell about code, they are none. Strings keep their `//`. */
function withoutComment(text: string): string {
  if (/^\s*(?:\*|\/\*)/.test(text)) return ''
  return text.replace(/(^|[\s;{}),])\/\/.*$/, '$1').replace(/\/\*.*?\*\//g, '')
}

function isTest(file: string): boolean {
  return file.endsWith('.test.ts') || /(?:^|\/)(?:test-|fixtures\/|testing\/)/.test(file)
}

function breach(file: SourceFile, index: number, rule: Rule, what: string): Breach {
  return { path: file.path, line: index + 1, rule, what }
}
