import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { settings } from '../infra/config/settings.ts'
import { sections, withSections } from './readme-sections.ts'

const root = new URL('../', import.meta.url)
const readme = readFileSync(new URL('README.md', root), 'utf8')

describe('the README', () => {
  it('is in step with the tables (npm run readme)', () => {
    expect(readme).toBe(withSections(readme))
  })

  it('lists every setting', () => {
    const listed = [...(sections()['settings'] ?? '').matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)
    expect(listed).toEqual(Object.keys(settings))
  })

  it('names only files that exist', () => {
    const linked = [...readme.matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].map(([, file = '']) => file)
    expect(linked.filter((file) => !existsSync(new URL(file, root)))).toEqual([])
    expect(linked.length).toBeGreaterThan(5)
  })

  it('names only commands that package.json has', () => {
    const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
      scripts: Record<string, string>
    }
    const named = [...readme.matchAll(/npm run ([a-z]+)/g)].map(([, name = '']) => name)
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([])
  })

  it('must have markers for each section', () => {
    expect(() => withSections('', { diagram: 'x' })).toThrow('README.md has no markers <!-- diagram -->')
  })
})
