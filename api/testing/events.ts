import { createServer, request, type IncomingMessage } from 'node:http'
import { closeServer, listen } from '../../infra/http/ops.ts'

/** A server-sent event as it came. */
export interface Heard {
  readonly name: string
  /** The id of the last event that had one, this one included; empty: none had. */
  readonly id: string
  readonly data: Readonly<Record<string, unknown>>
}

/** A stream that is being read. */
export class Events {
  readonly response: IncomingMessage
  readonly heard: Heard[] = []
  isOver = false
  #text = ''
  #id = ''

  constructor(response: IncomingMessage) {
    this.response = response
    response.on('data', (chunk: Buffer) => this.#read(chunk.toString()))
    response.on('error', () => undefined) // we cut it ourselves
    response.on('close', () => (this.isOver = true))
  }

  get names(): string[] {
    return this.heard.map(({ name }) => name)
  }

  /** The id that a reader would come back with. */
  get last(): string {
    return this.heard.at(-1)?.id ?? ''
  }

  close(): void {
    this.response.destroy()
  }

  #read(text: string): void {
    const [rest = '', ...events] = (this.#text + text).split('\n\n').toReversed()
    this.#text = rest
    for (const event of events.toReversed()) {
      this.#id = /^id: (.*)$/m.exec(event)?.[1] ?? this.#id
      const [, name, data] = /^event: (.*)\n(?:id: .*\n)?data: (.*)$/m.exec(event) ?? []
      if (name !== undefined && data !== undefined)
        this.heard.push({ name, id: this.#id, data: JSON.parse(data) as Heard['data'] })
    }
  }
}

/** Listens to a stream until it is closed. */
export function listenTo(url: string, headers: Record<string, string> = {}): Promise<Events> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers, agent: false }, (response) => resolve(new Events(response)))
    sent.on('error', reject)
    sent.end()
  })
}

/** A server whose first stream is cut behind its first event, and whose second one ends; `seen`: where readers said they were. */
export async function startCutStream(): Promise<{ url: string; seen: unknown[]; stop: () => Promise<void> }> {
  const seen: unknown[] = []
  const server = createServer(({ headers }, response) => {
    seen.push(headers['last-event-id'])
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const number = seen.length
    response.write(`: hello\n\nevent: price\nid: ${number}\ndata: {"price":${number}}\n\nevent: pri`, () => {
      if (number === 1) response.destroy()
      else response.end('ce\ndata: {"price":9}\n\nevent: end\ndata: {"reason":"time_over"}\n\n')
    })
  })
  return { url: `http://127.0.0.1:${await listen(server, '127.0.0.1', 0)}`, seen, stop: () => closeServer(server) }
}
