/** The symbols that a reader watches, kept in this browser. */
import { el } from './dom.ts'

const NAME = 'watchlist'
/** More are not kept. */
const MAX = 200

/** Upper-case symbols. */
export function watched(): ReadonlySet<string> {
  const text = localStorage.getItem(NAME) ?? ''
  return new Set(text.split(',').filter((symbol) => /^[A-Z0-9]{1,20}$/.test(symbol)))
}

/** A star that watches a symbol, or no longer. */
export function starOf(symbol: string, changed: () => void): HTMLElement {
  const star = el('button', { type: 'button', class: 'star', click: () => press() }, '')
  const draw = (): void => {
    const isWatched = watched().has(symbol)
    star.textContent = isWatched ? '★' : '☆'
    star.setAttribute('aria-pressed', String(isWatched))
    star.setAttribute('aria-label', `Watch ${symbol}`)
  }
  const press = (): void => {
    const symbols = new Set(watched())
    if (!symbols.delete(symbol)) symbols.add(symbol)
    localStorage.setItem(NAME, [...symbols].slice(-MAX).join(','))
    draw()
    changed()
  }
  draw()
  return star
}
