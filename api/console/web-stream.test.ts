import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

/** A line as a browser has it; what comes by it is said by the test. */
class FakeSource extends EventTarget {
  static readonly CLOSED = 2
  readonly url: URL
  readyState = 1

  constructor(url: string) {
    super()
    this.url = new URL(url, 'http://127.0.0.1')
    sources.push(this)
  }

  close(): void {
    this.readyState = FakeSource.CLOSED
  }

  open(): void {
    this.dispatchEvent(new Event('open'))
  }

  say(kind: string, data: unknown, lastEventId: string): void {
    this.dispatchEvent(new MessageEvent(kind, { data: JSON.stringify(data), lastEventId }))
  }

  refuse(): void {
    this.close()
    this.dispatchEvent(new Event('error'))
  }
}

type Heard = (changes: readonly (readonly unknown[])[]) => void

let sources: FakeSource[] = []
let page = new EventTarget()
let bar = { dataset: {} as Record<string, string>, textContent: '' }

beforeEach(() => {
  vi.useFakeTimers()
  sources = []
  page = new EventTarget()
  bar = { dataset: {}, textContent: '' }
  vi.stubGlobal('EventSource', FakeSource)
  vi.stubGlobal('document', { getElementById: () => bar })
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page))
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** The page's own module; its types are a browser's. */
async function follow(heard: Heard): Promise<void> {
  const file = new URL('web/stream.ts', import.meta.url).href
  const { follow } = (await import(file)) as { follow: (listener: object) => void }
  follow({ kinds: ['price'], changed: heard, known: heard })
}

/** The page is left or comes; `persisted`: the browser keeps it as it is, or brings it back so. */
function say(event: 'pagehide' | 'pageshow', persisted: boolean): void {
  page.dispatchEvent(Object.assign(new Event(event), { persisted }))
}

const open = (): FakeSource[] => sources.filter(({ readyState }) => readyState !== FakeSource.CLOSED)

describe('the stream of a page', () => {
  it('goes on where it was when the browser brings back the page that was left', async () => {
    const heard: unknown[] = []
    await follow((changes) => heard.push(...changes))
    say('pageshow', false)
    const [first] = sources
    first?.open()
    first?.say('ready', { resumed: false }, 'a')
    first?.say('price', ['btc', 1], 'b')
    expect([sources.length, bar.textContent]).toEqual([1, 'Live'])
    say('pagehide', true)
    expect(open()).toEqual([])
    say('pageshow', true)
    expect(bar.textContent).toBe('Connection lost, resuming')
    const [again, ...others] = open()
    expect([again?.url.searchParams.get('last_event_id'), others]).toEqual(['b', []])
    again?.open()
    again?.say('price', ['btc', 2], 'c')
    again?.say('ready', { resumed: true }, 'c')
    expect(bar.textContent).toBe('Live')
    expect(heard).toEqual([
      ['price', 'btc', 1],
      ['price', 'btc', 2],
    ])
    say('pagehide', true)
    expect(open()).toEqual([])
  })

  it('keeps what it was told before a line that broke while it was told what it lacked', async () => {
    const heard: unknown[] = []
    await follow((changes) => heard.push(...changes))
    const [first] = sources
    first?.open()
    first?.say('price', ['btc', 1], 'a')
    first?.open() // the browser has opened it again by itself, with the id of the last event
    first?.say('price', ['eth', 2], 'b')
    expect(heard).toEqual([])
    first?.say('ready', { resumed: true }, 'b')
    expect(heard).toEqual([
      ['price', 'btc', 1],
      ['price', 'eth', 2],
    ])
  })

  it('takes all that is told anew in place of what was told of a line that broke', async () => {
    const heard: unknown[] = []
    await follow((changes) => heard.push(...changes))
    const [first] = sources
    first?.open()
    first?.say('price', ['btc', 1], 'a')
    first?.open()
    first?.say('price', ['btc', 2], 'b')
    first?.say('ready', { resumed: false }, 'b')
    expect(heard).toEqual([['price', 'btc', 2]])
  })

  it('is one, however it was when the page was left', async () => {
    await follow(() => undefined)
    sources[0]?.refuse()
    say('pagehide', true)
    say('pageshow', true)
    vi.runAllTimers()
    expect([sources.length, open().length]).toEqual([2, 1])
    sources[1]?.refuse()
    vi.runAllTimers()
    expect([sources.length, open().length]).toEqual([3, 1])
  })
})
