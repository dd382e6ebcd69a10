import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

const HOST = '127.0.0.1'
/** A target that says nothing for so long is passed over, milliseconds. */
const CONNECT_MS = 2_000

/**
 * Forwards TCP connections on loopback to the first of some ports that takes them, beginning with another each time: a plain
 * balancer before several, and before one the network between it and its clients, which can be cut.
 */
export class Forward {
  readonly #server: Server
  readonly #targets: readonly number[]
  readonly #open = new Set<Socket>()
  #turn = 0
  #isCut = false

  private constructor(targets: readonly number[]) {
    this.#targets = targets
    this.#server = createServer({ noDelay: true, pauseOnConnect: true }, (socket) => void this.#take(socket))
  }

  /** Listens on `port` (0: any free one) when it resolves; rejects where another does. */
  static async listen(port: number, targets: readonly number[]): Promise<Forward> {
    const forward = new Forward(targets)
    await new Promise<void>((resolve, reject) => {
      forward.#server.once('error', reject).listen(port, HOST, resolve)
    })
    return forward
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Cut: nothing passes in either direction, and no connection ends; what was sent arrives when it is mended. */
  set isCut(isCut: boolean) {
    this.#isCut = isCut
    for (const socket of this.#open) this.#pass(socket)
  }

  get isCut(): boolean {
    return this.#isCut
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#open) socket.destroy()
  }

  async #take(client: Socket): Promise<void> {
    client.on('error', () => client.destroy()) // its end is what tells the other side
    const target = await this.#reach()
    if (target === undefined || client.destroyed) {
      client.destroy()
      target?.destroy()
      return
    }
    this.#join(client, target)
    this.#join(target, client)
  }

  /** One direction; when either side is gone, so is the other. */
  #join(from: Socket, to: Socket): void {
    this.#open.add(from)
    from.on('data', (bytes) => {
      if (!to.write(bytes)) from.pause()
    })
    to.on('drain', () => this.#pass(from))
    from.on('end', () => to.end())
    from.on('error', () => from.destroy())
    from.on('close', () => {
      this.#open.delete(from)
      to.destroy()
    })
    this.#pass(from)
  }

  #pass(socket: Socket): void {
    if (this.#isCut) socket.pause()
    else socket.resume()
  }

  async #reach(): Promise<Socket | undefined> {
    const first = this.#turn++
    for (let index = 0; index < this.#targets.length; index++) {
      const port = this.#targets[(first + index) % this.#targets.length] ?? 0
      const socket = await open(port)
      if (socket !== undefined) return socket
    }
    return undefined
  }
}

/** A connection on which nothing is read yet; undefined: nobody takes it. */
function open(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: HOST, noDelay: true }).pause()
    const giveUp = (): void => {
      socket.destroy()
      resolve(undefined)
    }
    socket.setTimeout(CONNECT_MS, giveUp)
    socket.once('error', giveUp)
    socket.once('connect', () => {
      socket.setTimeout(0).off('error', giveUp)
      resolve(socket)
    })
  })
}
