/** The search for a symbol in the bar of every page: `/` opens it, arrows choose, Enter goes there, Escape leaves. */
import { ask } from './ask.ts'
import { byId, el } from './dom.ts'
import { matchesOf } from './matches.ts'

const input = byId('search') as HTMLInputElement
const list = byId('found')
/** The catalogue changes seldom: it is read once a page. */
let symbols: readonly string[] | undefined
let offered: readonly string[] = []
let chosen = 0

async function readSymbols(): Promise<void> {
  if (symbols !== undefined) return
  const answer = await ask<{ symbols: readonly string[] }>('/view/catalogue')
  if (answer.is === 'failed') {
    offer([], answer.message)
    return
  }
  symbols = answer.body.symbols
  look()
}

function look(): void {
  const found = matchesOf(symbols ?? [], input.value)
  const isUnknown = symbols !== undefined && input.value.trim() !== '' && found.length === 0
  offer(found, isUnknown ? 'No venue lists such a symbol.' : '')
}

function offer(found: readonly string[], words: string): void {
  offered = found
  chosen = 0
  const items = found.map((symbol, at) =>
    el(
      'li',
      { id: `found-${at}`, role: 'option', mousedown: (event) => event.preventDefault(), click: () => go(symbol) },
      symbol,
    ),
  )
  const note = words === '' ? [] : [el('li', { role: 'option', 'aria-disabled': 'true', class: 'hint' }, words)]
  list.replaceChildren(...items, ...note)
  list.hidden = items.length + note.length === 0
  input.setAttribute('aria-expanded', String(!list.hidden))
  mark()
}

function mark(): void {
  for (const [at, item] of [...list.children].entries()) item.setAttribute('aria-selected', String(at === chosen))
  if (offered.length === 0) input.removeAttribute('aria-activedescendant')
  else input.setAttribute('aria-activedescendant', `found-${chosen}`)
}

/** The same view of the other symbol: interval and what the chart shows stay. */
function go(symbol: string): void {
  const isSymbolPage = document.body.dataset['page'] === 'symbol'
  location.assign(`/symbol/${encodeURIComponent(symbol)}${isSymbolPage ? location.search : ''}`)
}

function leave(): void {
  input.value = ''
  offer([], '')
}

function pressed(event: KeyboardEvent): void {
  const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }
  const step = steps[event.key]
  if (step !== undefined && offered.length > 0) {
    event.preventDefault()
    chosen = (chosen + step + offered.length) % offered.length
    mark()
  } else if (event.key === 'Enter') {
    const symbol = offered[chosen]
    if (symbol !== undefined) go(symbol)
  } else if (event.key === 'Escape') {
    leave()
    input.blur()
  }
}

/** `/` where nothing is being written. */
function open(event: KeyboardEvent): void {
  const { target } = event
  const isWriting = target instanceof HTMLElement && target.matches('input, select, textarea, [contenteditable]')
  if (event.key !== '/' || isWriting || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  input.focus()
}

input.addEventListener('focus', () => void readSymbols())
input.addEventListener('input', look)
input.addEventListener('keydown', pressed)
input.addEventListener('blur', leave)
document.addEventListener('keydown', open)
