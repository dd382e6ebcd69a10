import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

/** One file as it is served: read, stripped and compressed once, at the start. */
export interface StaticFile {
  readonly type: string
  readonly body: Buffer
  readonly gzip: Buffer
  readonly etag: string
}

const web = fileURLToPath(new URL('web/', import.meta.url))

/** Packages that pages import, by name, with the file of theirs that a browser can load by itself. */
const vendors = { 'lightweight-charts': 'dist/lightweight-charts.standalone.production.mjs' } as const

const types: Readonly<Record<string, string>> = {
  '.ts': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The pages: title, the module that runs them, and what they are called in the navigation. */
export const pages = [
  { name: 'market', path: '/', title: 'Market' },
  { name: 'screener', path: '/screener', title: 'Screener' },
  { name: 'symbol', path: '/symbol/:symbol', title: 'Symbol' },
  { name: 'alerts', path: '/alerts', title: 'Alerts' },
  { name: 'system', path: '/system', title: 'System' },
] as const

export type PageName = (typeof pages)[number]['name'] | 'login'

/** Everything that is served as it is, by path: `/app/...` is ours, `/vendor/...` a package's. */
export function loadFiles(): Map<string, StaticFile> {
  const ours = readdirSync(web)
    .filter((name) => path.extname(name) in types)
    .map((name) => [`/app/${name}`, fileOf(types[path.extname(name)] ?? '', contentOf(name))] as const)
  const theirs = Object.entries(vendors).map(([name, file]) => {
    const url = import.meta.resolve(name)
    const folder = url.slice(0, url.lastIndexOf(`/${name}/`) + name.length + 2)
    return [
      `/vendor/${name}.mjs`,
      fileOf('text/javascript; charset=utf-8', readFileSync(new URL(folder + file))),
    ] as const
  })
  return new Map([...ours, ...theirs])
}

/** TypeScript as a browser reads it: without its types, each line where it was; packages by their address here. */
function contentOf(name: string): Buffer {
  const text = readFileSync(path.join(web, name), 'utf8')
  if (!name.endsWith('.ts')) return Buffer.from(text)
  const script = stripTypeScriptTypes(text)
  const known = Object.keys(vendors).reduce(
    (code, vendor) => code.replaceAll(`from '${vendor}'`, `from '/vendor/${vendor}.mjs'`),
    script,
  )
  return Buffer.from(known)
}

function fileOf(type: string, body: Buffer): StaticFile {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  return { type, body, gzip: gzipSync(body), etag }
}

/** A whole page: the frame with the page's own part in it. Nothing in it depends on who asks. */
export function loadPage(
  name: PageName,
  { mode, tokenIsNeeded }: { mode: string; tokenIsNeeded: boolean },
): StaticFile {
  const part = readFileSync(path.join(web, `${name}.html`), 'utf8')
  const frame = readFileSync(path.join(web, 'frame.html'), 'utf8')
  const title = name === 'login' ? 'Log in' : (pages.find((page) => page.name === name)?.title ?? '')
  const isOpen = name === 'login'
  const filled = {
    title,
    page: name,
    main: part,
    banner: banners[mode] ?? '',
    navigation: isOpen ? '' : navigation(name),
    logout:
      tokenIsNeeded && !isOpen
        ? '<form method="post" action="/logout"><button class="quiet">Log out</button></form>'
        : '',
    search: isOpen ? '' : readFileSync(path.join(web, 'search.html'), 'utf8'),
    script: isOpen
      ? ''
      : ['search', name].map((one) => `<script type="module" src="/app/${one}.ts"></script>`).join(''),
  }
  const html = Object.entries(filled).reduce((text, [key, value]) => text.replaceAll(`{{${key}}}`, value), frame)
  return fileOf('text/html; charset=utf-8', Buffer.from(html))
}

const banners: Readonly<Record<string, string>> = {
  demo: '<p class="banner" role="note"><b>Demo.</b> Every number here is synthetic, made by the venue simulator.</p>',
  tape: '<p class="banner" role="note"><b>Tape.</b> These are recorded numbers, not the market of now.</p>',
}

function navigation(current: PageName): string {
  return pages
    .filter(({ name }) => name !== 'symbol')
    .map(({ name, path: to, title }) => {
      const mark = name === current ? ' aria-current="page"' : ''
      return `<a href="${to}"${mark}>${title}</a>`
    })
    .join('')
}
