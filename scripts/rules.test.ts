import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { breachesOf, forbiddenWords, isPure, sourceFiles, type Breach, type Rule } from './testing/rules.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const files = sourceFiles(root)
const breaches = files.flatMap(breachesOf)

function of(rule: Rule): string[] {
  return breaches.filter((breach) => breach.rule === rule).map(show)
}

function show({ path: file, line, what }: Breach): string {
  return `${file}:${line} ${what}`
}

/** The breaches of `text` as if it stood in `file`. */
function rulesIn(text: string, file = 'processors/cvd/core.ts'): string[] {
  return breachesOf({ path: file, text }).map((breach) => breach.rule)
}

describe('the product', () => {
  it.each<[string, Rule]>([
    ['imports in one direction only', 'imports'],
    ['keeps clocks, randomness, waiting and IO out of pure code', 'purity'],
    ['has no hole in its types', 'types'],
    ['has no test that is switched off or sleeps', 'tests'],
    ['has no unfinished work and no path of one machine', 'words'],
  ])('%s', (_what, rule) => {
    expect(of(rule)).toEqual([])
  })

  it('looks at a good part of itself as pure code', () => {
    expect(files.filter(({ path: file }) => isPure(file)).length).toBeGreaterThan(20)
  })

  it('says nothing in its documents that it must not say in its code', () => {
    const texts = tracked().filter(
      (file) => /\.(?:md|json|ya?ml|sql|avsc)$|^\.ci\/|Dockerfile$/.test(file) && !file.startsWith('package-lock'),
    )
    const found = texts.flatMap((file) =>
      forbiddenWords({ path: file, text: readFileSync(path.join(root, file), 'utf8') }),
    )
    expect(found.map(show)).toEqual([])
  })

  it('has a README in each folder of code', () => {
    const missing = ['schemas', 'api', 'scripts', 'infra', ...foldersIn('processors'), ...foldersIn('infra')].filter(
      (folder) => !existsSync(path.join(root, folder, 'README.md')),
    )
    expect(missing).toEqual([])
  })

  it('keeps each README to about one screen but for the front page', () => {
    const long = tracked().filter((file) => /.+\/README\.md$/.test(file) && lineCount(file) > 120)
    expect(long).toEqual([])
  })
})

/** The files that git has, or where there is no repository (an archive, an image), those of the source folders. */
function tracked(): string[] {
  if (!existsSync(path.join(root, '.git'))) return files.map((file) => file.path)
  const listed = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0')
  return listed.filter((file) => file !== '' && existsSync(path.join(root, file)))
}

function lineCount(file: string): number {
  return readFileSync(path.join(root, file), 'utf8').split('\n').length
}

function foldersIn(folder: string): string[] {
  return readdirSync(path.join(root, folder))
    .map((name) => `${folder}/${name}`)
    .filter((name) => statSync(path.join(root, name)).isDirectory())
}

describe('the rules', () => {
  it.each<[string, string, Rule[], string?]>([
    ['a processor that imports the API', "import { app } from '../../api/app.ts'", ['imports']],
    ['a schema that imports a processor', "import { a } from '../processors/cvd/a.ts'", ['imports'], 'schemas/a.ts'],
    ['an import over several lines', "import {\n  a,\n} from '../../infra/log.ts'", ['imports']],
    ['whoever imports a script', "import { a } from '../scripts/a.ts'", ['imports'], 'infra/a.ts'],
    ['a core that imports test support', "import { a } from './testing/a.ts'", ['imports'], 'processors/alerts/a.ts'],
    [
      'a script that imports test support',
      "import { a } from '../infra/tapes/testing/a.ts'",
      ['imports'],
      'scripts/a.ts',
    ],
    ['a server that imports a test', "import { a } from './b.test.ts'", ['imports'], 'api/a.ts'],
    ['a page that imports the server', "import { a } from '../guard.ts'", ['imports'], 'api/console/web/a.ts'],
    ['a server that imports a page', "import { a } from './web/a.ts'", ['imports'], 'api/console/a.ts'],
    ['a pure core that reads the clock', 'const now = Date.now()', ['purity']],
    ['a pure core that takes today', 'const now = new Date()', ['purity']],
    ['a pure core that throws dice', 'const x = Math.random()', ['purity']],
    ['a pure core that reads the environment', "const x = process.env['X']", ['purity']],
    ['a pure core that opens files', "import { open } from 'node:fs'", ['purity']],
    ['a repair of trades that reads the clock', 'const now = Date.now()', ['purity'], 'processors/feeds/trades/a.ts'],
    ['a venue that waits', 'await page()', ['purity'], 'processors/feeds/venues/x/a.ts'],
    [
      'a venue that imports a socket',
      "import { a } from '../../transport/a.ts'",
      ['imports'],
      'processors/feeds/venues/x/a.ts',
    ],
    ['a formatter that is switched off', 'const a = [ 1 ] // prettier-ignore', ['types'], 'api/a.ts'],
    ['a linter that is switched off without a reason', '// oxlint-disable-line', ['types'], 'api/a.ts'],
    ['a type that is cast through unknown', 'const a = 1 as unknown as Date', ['types'], 'api/a.ts'],
    ['a test that is to fail', "it.fails('x', () => {})", ['tests'], 'api/a.test.ts'],
    ['a test that sleeps', 'setTimeout(resolve, 1000)', ['tests'], 'api/a.test.ts'],
    ['unfinished work', ['// TO', 'DO later'].join(''), ['words'], 'api/a.ts'],
    ['a path of one machine', ['read("/ho', 'me/me/x")'].join(''), ['words'], 'api/a.ts'],
  ])('see %s', (_what, text, rules, file) => {
    expect(rulesIn(text, file)).toEqual(rules)
  })

  it.each<[string, string, string?]>([
    ['a date made of an event', 'const day = new Date(time)'],
    ['the clock in a comment', '// never Date.now() here'],
    ['the clock in a host', 'const now = Date.now()', 'api/a.ts'],
    ['the clock in the runtime of the feeds', 'const now = Date.now()', 'processors/feeds/runtime/a.ts'],
    ['a socket of the feeds', "import { WebSocket } from 'ws'", 'processors/feeds/transport/a.ts'],
    ['a repair of trades that waits for a page', 'await page()', 'processors/feeds/trades/a.ts'],
    ['the seam’s types', "import type { Log } from '../../infra/kafka/seam.ts'"],
    ['the word any in a sentence', '/** any batching: any order */', 'api/a.ts'],
    ['a long file', 'a\n'.repeat(1000)],
    ['an exception with its reason', 'const now = Date.now() // rule: purity - only logged'],
  ])('let %s pass', (_what, text, file) => {
    expect(rulesIn(text, file)).toEqual([])
  })
})
