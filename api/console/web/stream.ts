import { byId, say } from './dom.ts'

/** Kind, key and the newest word on it; null: it is gone. */
export type Change = readonly [kind: string, key: string, value: unknown]

export interface Listener {
  readonly kinds: readonly string[]
  readonly asset?: string
  /** What changed. */
  readonly changed: (changes: readonly Change[]) => void
  /** All that is known, in place of what was known before. */
  readonly known: (changes: readonly Change[]) => void
}

/** After the server refused the stream: it is starting, or full, milliseconds. */
const AGAIN_MS = 2_000

const words = {
  connecting: 'Connecting',
  live: 'Live',
  lost: 'Connection lost, resuming',
} as const

/**
 * Follows the server's stream for as long as the page is open. After a cut the browser says by itself which event it has
 * seen last, and gets what it lacks; so does a page that was left and is brought back as it was.
 */
export function follow(listener: Listener): void {
  const { kinds, asset } = listener
  let last = ''
  /** What was told since the stream was opened; undefined: all that this page lacked has been told. */
  let lacked: Change[] | undefined
  /** What was told of that by streams that broke before they were done. */
  let begun: Change[] = []
  let source: EventSource
  let later: ReturnType<typeof setTimeout> | undefined
  // Our own server's words.
  const take = (kind: string) => (event: MessageEvent<string>) => {
    last = event.lastEventId
    show('live')
    const change: Change = [kind, ...(JSON.parse(event.data) as [key: string, value: unknown])]
    if (lacked === undefined) listener.changed([change])
    else lacked.push(change)
  }
  const ready = (event: MessageEvent<string>): void => {
    last = event.lastEventId
    show('live')
    const { resumed } = JSON.parse(event.data) as { resumed: boolean }
    const told = lacked ?? []
    lacked = undefined
    if (resumed) listener.changed([...begun, ...told])
    else listener.known(told)
    begun = []
  }
  const open = (): void => {
    const query = new URLSearchParams({
      kinds: kinds.join(','),
      ...(asset !== undefined && { asset }),
      ...(last !== '' && { last_event_id: last }),
    })
    source = new EventSource(`/stream?${query}`)
    source.addEventListener('open', () => {
      begun.push(...(lacked ?? []))
      lacked = []
    })
    for (const kind of kinds) source.addEventListener(kind, take(kind))
    source.addEventListener('ready', ready)
    source.addEventListener('error', () => {
      show('lost')
      if (source.readyState !== EventSource.CLOSED) return
      later = setTimeout(open, AGAIN_MS)
    })
  }
  show('connecting')
  open()
  addEventListener('pagehide', () => {
    clearTimeout(later)
    source.close()
  })
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return
    show('lost')
    open()
  })
}

let shown: keyof typeof words | undefined
let oldPanels = 0

function show(state: keyof typeof words): void {
  shown = state
  draw()
}

/** The stream may live while what the page asks for does not come: so many panels could not be refreshed. */
export function showOldPanels(count: number): void {
  oldPanels = count
  draw()
}

function draw(): void {
  if (shown === undefined) return
  const isOld = shown === 'live' && oldPanels > 0
  const container = byId('stream')
  container.hidden = false
  container.dataset['state'] = isOld ? 'old' : shown
  say(container, isOld ? `Live, but ${oldPanels} ${oldPanels === 1 ? 'panel is' : 'panels are'} old` : words[shown])
}
