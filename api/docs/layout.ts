import { escaped, htmlOf } from './markdown.ts'

/** One page: Markdown, and where it stands. */
export interface Page {
  /** Below /docs/: `first-alert`, `reference/cvd`; empty: the front page. */
  readonly slug: string
  readonly section: 'Guides' | 'Events' | 'Reference'
  /** In the contents. */
  readonly title: string
  /** What the search finds it by, beside its title. */
  readonly words: string
  readonly markdown: string
}

export const pageHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
}

/** A page as HTML, with the contents beside it; no script but ours, no style but ours. */
export function pageHtml(page: Page, pages: readonly Page[], version: string): string {
  const title = page.slug === '' ? 'Market data and alerts' : `${page.title} · Market data and alerts`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="stylesheet" href="/docs/docs.css">
<link rel="icon" href="data:,">
<link rel="alternate" type="text/markdown" href="${pathOf(page)}.md">
<script src="/docs/docs.js" defer></script>
</head>
<body>
<a class="skip" href="#contents">Contents</a>
<main>
${htmlOf(page.markdown)}
<footer>Version ${escaped(version)} · <a href="${pathOf(page)}.md">this page as Markdown</a> · <a href="/openapi.json">OpenAPI</a> · <a href="/asyncapi.json">AsyncAPI</a> · <a href="/llms.txt">llms.txt</a></footer>
</main>
<nav id="contents" tabindex="-1" aria-label="Contents">
<a href="/docs"${page.slug === '' ? ' aria-current="page"' : ''}>Market data and alerts</a>
<p hidden><label for="search">Search titles</label><input id="search" type="search" autocomplete="off" placeholder="press /"></p>
<p id="search-none" role="status" hidden>Nothing found. Fewer or other words: titles and their topics are searched, as “webhook retry”.</p>
${(['Guides', 'Events', 'Reference'] as const).map((section) => sectionHtml(section, page, pages)).join('\n')}
</nav>
</body>
</html>
`
}

function sectionHtml(section: Page['section'], current: Page, pages: readonly Page[]): string {
  const items = pages
    .filter((page) => page.section === section && page.slug !== '')
    .map((page) => {
      const mark = page.slug === current.slug ? ' aria-current="page"' : ''
      const words = escaped(`${page.title} ${page.words}`.toLowerCase())
      return `<li data-words="${words}"><a href="${pathOf(page)}"${mark}>${escaped(page.title)}</a></li>`
    })
  return `<section><h2>${section}</h2><ul>\n${items.join('\n')}\n</ul></section>`
}

/** `/docs/first-alert`; the front page's Markdown is /docs/index.md. */
export function pathOf({ slug }: { readonly slug: string }): string {
  return `/docs/${slug === '' ? 'index' : slug}`
}
