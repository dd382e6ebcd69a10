import { Docs } from '../docs/docs.ts'
import { ApiError } from '../request/errors.ts'
import { shape, type Param } from '../request/params.ts'
import type { Reply } from '../request/reply.ts'
import { route, type Output, type Route } from '../request/route.ts'
import type { Services } from '../services.ts'

const page = {
  in: 'path',
  rule: shape(/^[\w.-]{1,80}$/, 'a page of /docs'),
  error: 'not_found',
  description: 'A page; with .md behind it, its Markdown',
  example: 'first-alert',
} satisfies Param

const html = (description: string): Output => ({ description, type: 'text/html', schema: { type: 'string' } })
const DEFAULT_BASE = 'http://127.0.0.1:3000'

/** The documentation; a part of the table in `routes.ts`, which it tells: `all`. */
export function docsRoutes(all: () => readonly Route[]): Route[] {
  const made = new Map<string, Docs>()
  const find = (services: Services, path: string): Reply => {
    const base = services.payments?.publicUrl ?? DEFAULT_BASE
    const docs = made.get(base) ?? new Docs(all(), services.version, base)
    made.set(base, docs)
    const found = docs.find(path)
    if (found === undefined) throw new ApiError('not_found', 'There is no such page; see /docs.')
    return found
  }
  const free = { method: 'GET', priceUsdc: 0, ttlMs: 0, limit: 'caller', errors: [] } as const
  return [
    route({
      ...free,
      path: '/docs',
      name: 'docs',
      description: 'The documentation: guides, reference, events',
      input: {},
      outputs: { 200: html('A page') },
      prepare: async ({ services }) => find(services, '/docs'),
    }),
    route({
      ...free,
      path: '/docs/:page',
      name: 'docs_page',
      description: 'A guide or the event catalogue, as a page or as Markdown',
      input: { page },
      outputs: { 200: html('A page') },
      prepare: async ({ services, input }) => find(services, `/docs/${input.page}`),
    }),
    route({
      ...free,
      path: '/docs/reference/:page',
      name: 'docs_reference',
      description: 'The reference of a route, as a page or as Markdown',
      input: {
        page: { ...page, description: 'The name of a route; with .md behind it, its Markdown', example: 'cvd' },
      },
      outputs: { 200: html('A page') },
      prepare: async ({ services, input }) => find(services, `/docs/reference/${input.page}`),
    }),
    route({
      ...free,
      path: '/asyncapi.json',
      name: 'asyncapi',
      description: 'Topics and webhooks as AsyncAPI 3.0',
      input: {},
      outputs: { 200: { description: 'AsyncAPI 3.0 document', type: 'application/json', schema: { type: 'object' } } },
      prepare: async ({ services }) => find(services, '/asyncapi.json'),
    }),
  ]
}
