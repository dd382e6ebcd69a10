import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { templateOf } from './openapi.ts'
import type { Reply } from '../request/reply.ts'
import type { Route } from '../request/route.ts'
import { asyncapi } from './asyncapi.ts'
import { eventCatalogue } from './events.ts'
import { guidePages } from './guides.ts'
import { pathOf, pageHeaders, pageHtml, type Page } from './layout.ts'
import { referenceOf, type Examples } from './reference.ts'

/** How long a caller may keep a page without asking, milliseconds. */
const FRESH_MS = 300_000

/** The documentation of one API: every page and file that it has, made once. */
export class Docs {
  readonly #files = new Map<string, Reply>()
  readonly pages: readonly Page[]

  /** `base`: the API's address in commands. */
  constructor(routes: readonly Route[], version: string, base: string) {
    this.pages = [...guidePages(base), eventPage(), ...referencePages(routes, base)]
    for (const page of this.pages) {
      const html = pageHtml(page, this.pages, version)
      this.#put(page.slug === '' ? '/docs' : pathOf(page), 'text/html; charset=utf-8', html)
      this.#put(`${pathOf(page)}.md`, 'text/markdown; charset=utf-8', page.markdown)
    }
    this.#put('/docs/docs.css', 'text/css; charset=utf-8', asset('docs.css'))
    this.#put('/docs/docs.js', 'text/javascript; charset=utf-8', asset('docs.js'))
    for (const name of readdirSync(new URL('assets/notebooks/', import.meta.url)))
      this.#put(`/docs/${name}`, 'image/svg+xml', asset(`notebooks/${name}`))
    this.#put('/asyncapi.json', 'application/json; charset=utf-8', JSON.stringify(asyncapi(version)))
  }

  /** What stands at a path; undefined: nothing. */
  find(path: string): Reply | undefined {
    return this.#files.get(path)
  }

  #put(path: string, type: string, body: string): void {
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 24)}"`
    const headers = { ...pageHeaders, ETag: etag }
    this.#files.set(path, { status: 200, type, body, headers, freshForMs: FRESH_MS })
  }
}

function asset(name: string): string {
  return readFileSync(new URL(`assets/${name}`, import.meta.url), 'utf8')
}

function eventPage(): Page {
  return {
    slug: 'events',
    section: 'Events',
    title: 'Event catalogue',
    words: 'kafka topics records avro webhooks asyncapi schema',
    markdown: eventCatalogue(),
  }
}

function referencePages(routes: readonly Route[], base: string): Page[] {
  const examples = JSON.parse(asset('examples.json')) as Readonly<Record<string, object>>
  const texts: Examples = Object.fromEntries(
    Object.entries(examples).map(([name, example]) => [name, JSON.stringify(example, null, 2)]),
  )
  return routes.map((route) => ({
    slug: `reference/${route.name}`,
    section: 'Reference',
    title: `${route.method} ${templateOf(route.path)}`,
    words: `${route.description} ${route.name}`,
    markdown: referenceOf(route, base, texts),
  }))
}
