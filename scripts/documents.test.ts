import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { settings } from '../infra/config/settings.ts'
import { documents, withSections } from './document-sections.ts'

const root = new URL('../', import.meta.url)
const read = (file: string): string => readFileSync(new URL(file, root), 'utf8')
const front = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'api/docs/decisions/README.md']

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

  it('keep the front page to 150 lines', () => {
    expect(read('README.md').split('\n').length).toBeLessThanOrEqual(150)
  })

  it('must have markers for each section', () => {
    expect(() => withSections('', { diagram: 'x' })).toThrow('there are no markers <!-- diagram -->')
  })
})
