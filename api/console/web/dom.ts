/** Few lines over the document, so that pages say what they show and nothing else. */

type Child = Node | string

interface Attributes {
  readonly [name: string]: string | ((event: Event) => void)
}

/** A new element; a function is a listener for the event of that name. */
export function el(tag: string, attributes: Attributes = {}, ...children: readonly Child[]): HTMLElement {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes))
    if (typeof value === 'string') element.setAttribute(name, value)
    else element.addEventListener(name, value)
  element.append(...children)
  return element
}

/** A cell of a table's body. */
export function td(text: string, className = ''): HTMLElement {
  return el('td', { class: className }, text)
}

/** A word that stands for a state; `kind`: good, odd or bad, by which it has its colour. */
export function badge(word: string, kind = ''): HTMLElement {
  return el('span', { class: `badge ${kind}` }, word)
}

/** The element of the page's own markup with that id; without it the page is broken. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id)
  if (element === null) throw new Error(`the page has no #${id}`)
  return element
}

/** Writes only what changed: what did not costs no layout. */
export function say(element: Element | null | undefined, text: string, className?: string): void {
  if (element === null || element === undefined) return
  if (element.textContent !== text) element.textContent = text
  if (className !== undefined && element.className !== className) element.className = className
}

/** How a part of the page is: what is told to the reader while there is nothing to show. */
export type State = 'loading' | 'ready' | 'empty' | 'error'

/** Shows a panel's content, or says why there is none. */
export function setState(panel: HTMLElement, state: State, words = ''): void {
  if (panel.dataset['state'] === state && panel.dataset['words'] === words) return
  panel.dataset['state'] = state
  panel.dataset['words'] = words
  panel.setAttribute('aria-busy', String(state === 'loading'))
  const note = panel.querySelector('.note')
  say(note, state === 'ready' ? '' : words)
}

/** Fills the body of a panel's table. */
export function fill(panel: HTMLElement, rows: readonly HTMLElement[]): void {
  panel.querySelector('tbody')?.replaceChildren(...rows)
}

/** Fills it, or says that there is nothing. */
export function fillOrSay(panel: HTMLElement, rows: readonly HTMLElement[], none: string): void {
  fill(panel, rows)
  setState(panel, rows.length === 0 ? 'empty' : 'ready', none)
}

/** A table body whose rows are found by key; new rows are made once and then only written to. */
export class Rows {
  readonly #body: HTMLElement
  readonly #make: (key: string) => HTMLElement
  readonly #rows = new Map<string, HTMLElement>()

  constructor(body: HTMLElement, make: (key: string) => HTMLElement) {
    this.#body = body
    this.#make = make
  }

  row(key: string): HTMLElement {
    const known = this.#rows.get(key)
    if (known !== undefined) return known
    const row = this.#make(key)
    this.#rows.set(key, row)
    this.#body.append(row)
    return row
  }

  /** Whether it is shown. */
  has(key: string): boolean {
    return this.#rows.has(key)
  }

  /** Exactly these, in this order; a row that stays where it is is not touched. */
  arrange(keys: readonly string[]): void {
    const wanted = new Set(keys)
    for (const [key, row] of this.#rows) {
      if (wanted.has(key)) continue
      row.remove()
      this.#rows.delete(key)
    }
    let at: Element | null = this.#body.firstElementChild
    for (const key of keys) {
      const row = this.row(key)
      if (row === at) at = at.nextElementSibling
      else this.#body.insertBefore(row, at)
    }
  }
}

/** The cell of a row by the name that it was made with. */
export function cell(row: HTMLElement, name: string): HTMLElement | null {
  return row.querySelector(`[data-cell="${name}"]`)
}

/** Calls `draw` before the next paint, once, however often it is asked for. */
export function beforePaint(draw: () => void): () => void {
  let isAsked = false
  return () => {
    if (isAsked) return
    isAsked = true
    requestAnimationFrame(() => {
      isAsked = false
      draw()
    })
  }
}
