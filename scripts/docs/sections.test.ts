import { existsSync, globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { settings } from '../../infra/config/settings.ts'
import { documents, withSections } from './sections.ts'

const root = new URL('../../', import.meta.url)
const read = (file: string): string => readFileSync(new URL(file, root), 'utf8')
const all = globSync('**/*.md', { cwd: root, exclude: ['**/node_modules/**', '.*/**'] })
const front = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'api/docs/decisions/README.md']

const sources = globSync('{api,infra,processors,schemas,scripts}/**/*.test.ts', {
  cwd: root,
  exclude: ['**/node_modules/**'],
})
/** Of a command: a part of a path of a test. */
const isThere = (part: string): boolean => sources.some((name) => name.includes(part))
/** Beside the document, or anywhere by the end of its path. */
const isNamed = (name: string, file: string): boolean =>
  existsSync(new URL(name, new URL(file, root))) || sources.some((path) => `/${path}`.endsWith(posix.join('/', name)))

describe('the documents', () => {
  it.each(Object.entries(documents()))('%s is in step with the tables (npm run readme)', (file, parts) => {
    expect(read(file)).toBe(withSections(read(file), parts))
  })

  it('list every setting', () => {
    const page = documents()['api/docs/guides/settings.md']?.['settings'] ?? ''
    const listed = [...page.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)
    expect(listed).toEqual(Object.keys(settings))
  })

  it.each(front)('%s names only files that exist', (file) => {
    const linked = [...read(file).matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].map(([, name = '']) => name)
    expect(linked.filter((name) => !existsSync(new URL(name, new URL(file, root))))).toEqual([])
    expect(linked.length).toBeGreaterThan(0)
  })

  it.each([...front, 'api/docs/guides/operations.md'])('%s names only commands that package.json has', (file) => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const named = [...read(file).matchAll(/npm run ([a-z:]+)/g)].map(([, name = '']) => name)
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([])
  })

  it.each(all)('%s names only tests that exist', (file) => {
    const text = read(file)
    const commands = [...text.matchAll(/npx vitest run ([^`\n#]+)/g)].flatMap(([, args = '']) =>
      args.trim().split(/\s+/),
    )
    const paths = commands.filter((word) => word.includes('/') || word.endsWith('.ts'))
    const named = [...text.matchAll(/`([\w./-]+\.test\.ts)`/g)].map(([, name = '']) => name)
    const missing = [...paths.filter((name) => !isThere(name)), ...named.filter((name) => !isNamed(name, file))]
    expect(missing).toEqual([])
  })

  it.each(all)('%s starts programs by a Node that reads TypeScript, whichever is installed', (file) => {
    expect(read(file).match(/(?<!npx )\bnode (?:[\w-]+\/)+[\w-]+\.ts/g)).toBeNull()
  })

  it('keep the front page to 150 lines', () => {
    expect(read('README.md').split('\n').length).toBeLessThanOrEqual(150)
  })

  it('must have markers for each section', () => {
    expect(() => withSections('', { diagram: 'x' })).toThrow('there are no markers <!-- diagram -->')
  })
})
