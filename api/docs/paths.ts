/** `/docs/first-alert`; the front page's Markdown is /docs/index.md. */
export function pathOf({ slug }: { readonly slug: string }): string {
  return `/docs/${slug === '' ? 'index' : slug}`
}
