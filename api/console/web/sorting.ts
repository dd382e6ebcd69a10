/** A table that is sorted by the buttons in its head, the choice being kept in the address. */

export interface Order {
  readonly by: string
  readonly isFalling: boolean
}

/**
 * Follows the buttons `th button[data-sort]` of a table. The first press of a column gives the largest first, the second
 * the smallest; of a name (`data-text`) the other way round.
 */
export class Sorting {
  readonly #table: HTMLElement
  #order: Order | undefined

  constructor(table: HTMLElement, changed: () => void) {
    this.#table = table
    const query = new URLSearchParams(location.search)
    const by = query.get('sort')
    if (by !== null && this.#buttons.some(({ dataset }) => dataset['sort'] === by))
      this.#order = { by, isFalling: query.get('order') !== 'asc' }
    for (const button of this.#buttons)
      button.addEventListener('click', () => {
        this.#press(button)
        changed()
      })
    this.#draw()
  }

  /** Undefined: as the rows come. */
  get order(): Order | undefined {
    return this.#order
  }

  get #buttons(): HTMLElement[] {
    return [...this.#table.querySelectorAll<HTMLElement>('th button[data-sort]')]
  }

  #press({ dataset }: HTMLElement): void {
    const by = dataset['sort'] ?? ''
    const isFalling = this.#order?.by === by ? !this.#order.isFalling : dataset['text'] === undefined
    this.#order = { by, isFalling }
    keepInAddress({ sort: by, order: isFalling ? 'desc' : 'asc' })
    this.#draw()
  }

  #draw(): void {
    for (const button of this.#buttons) {
      const isBy = button.dataset['sort'] === this.#order?.by
      const words = isBy ? (this.#order?.isFalling === true ? 'descending' : 'ascending') : 'none'
      button.closest('th')?.setAttribute('aria-sort', words)
    }
  }
}

/** Writes what is chosen into the address; undefined and empty: not there. */
export function keepInAddress(chosen: Readonly<Record<string, string | undefined>>): void {
  const url = new URL(location.href)
  for (const [name, value] of Object.entries(chosen))
    if (value === undefined || value === '') url.searchParams.delete(name)
    else url.searchParams.set(name, value)
  history.replaceState(null, '', url)
}
