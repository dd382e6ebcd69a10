import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A line to the console that can be cut, and says what went over it. */
export interface CuttingProxy {
  readonly url: string
  /** First lines and Last-Event-ID of requests for the stream, in their order. */
  readonly streams: readonly { readonly line: string; readonly lastEventId: string }[]
  /** Breaks every connection and refuses new ones. */
  cut(): void
  mend(): void
  close(): Promise<void>
}

/** Stands before `target` on a free port of this machine. */
export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const streams: { line: string; lastEventId: string }[] = []
  let isCut = false
  const server = createServer((socket) => {
    if (isCut) {
      socket.destroy()
      return
    }
    const upstream = connect(Number(port), hostname)
    for (const end of [socket, upstream]) {
      sockets.add(end)
      end.on('close', () => sockets.delete(end))
      end.on('error', () => undefined) // we break them ourselves
    }
    socket.on('data', (bytes) => note(bytes.toString('latin1'), streams))
    socket.pipe(upstream).pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const breakAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    streams,
    cut() {
      isCut = true
      breakAll()
    },
    mend() {
      isCut = false
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        breakAll()
      }),
  }
}

function note(text: string, streams: { line: string; lastEventId: string }[]): void {
  if (!text.startsWith('GET /stream')) return
  const lastEventId = /^last-event-id: *(\S+)/im.exec(text)?.[1] ?? ''
  streams.push({ line: text.slice(0, text.indexOf('\r\n')), lastEventId })
}
