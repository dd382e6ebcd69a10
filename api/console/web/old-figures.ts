/** Says in each panel how old its figures are where they could not be refreshed, and in the bar how many panels that are. */
import { now } from './clock.ts'
import { el, say } from './dom.ts'
import { Freshness } from './freshness.ts'
import { showOldPanels } from './stream.ts'

const panels = new Map<HTMLElement, Freshness>()

/** `asOf`: of the figures, milliseconds. A panel of several answers names the part. */
export function answered(panel: HTMLElement, asOf: number, { part = '', isStale = false } = {}): void {
  freshnessOf(panel).answered(part, asOf, isStale)
  draw()
}

/** A refresh failed; the figures stay, and from now on say their age. */
export function failed(panel: HTMLElement, why: string, part = ''): void {
  freshnessOf(panel).failed(part, why)
  draw()
}

function freshnessOf(panel: HTMLElement): Freshness {
  const known = panels.get(panel)
  if (known !== undefined) return known
  if (panels.size === 0) setInterval(draw, 1_000)
  const fresh = new Freshness()
  panels.set(panel, fresh)
  return fresh
}

function draw(): void {
  const words = [...panels].map(([panel, fresh]) => [panel, fresh.words(now())] as const)
  for (const [panel, text] of words) drawNote(panel, text)
  showOldPanels(words.filter(([, text]) => text !== undefined).length)
}

function drawNote(panel: HTMLElement, text: string | undefined): void {
  const known = panel.querySelector<HTMLElement>(':scope > .old')
  if (text === undefined) {
    known?.remove()
    return
  }
  const note = known ?? el('p', { class: 'old' })
  if (known === null) panel.querySelector(':scope > .note')?.before(note)
  say(note, text)
}
