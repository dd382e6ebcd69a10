/** The symbols that a reader watches, kept in this browser. */
import { byId, el } from './dom.ts'
import { keepInAddress } from './sorting.ts'

const NAME = 'watchlist'
/** More are not kept. */
const MAX = 200

/** Upper-case symbols. */
function watched(): ReadonlySet<string> {
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

/** The button `#watched`: whether symbols that are not watched are left out, the choice being kept in the address. */
export class WatchedOnly {
  readonly #button = byId('watched')
  #isOn = new URLSearchParams(location.search).get('watched') === '1'

  constructor(changed: () => void) {
    this.#draw()
    this.#button.addEventListener('click', () => {
      this.#isOn = !this.#isOn
      keepInAddress({ watched: this.#isOn ? '1' : undefined })
      this.#draw()
      changed()
    })
  }

  /** Those that are to be seen. */
  of<Row extends { readonly symbol: string }>(all: readonly Row[]): readonly Row[] {
    const stars = watched()
    return this.#isOn ? all.filter(({ symbol }) => stars.has(symbol)) : all
  }

  #draw(): void {
    this.#button.setAttribute('aria-pressed', String(this.#isOn))
  }
}
