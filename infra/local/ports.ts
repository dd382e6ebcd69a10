import { createServer } from 'node:net'

const HOST = '127.0.0.1'

/** The port itself, or a free one for 0. Throws where it is taken: the message names it and who wanted it. */
export async function reservePort(port: number, wantedBy: string): Promise<number> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE'
      reject(taken ? new Error(`${wantedBy}: port ${port} on ${HOST} is in use`, { cause: error }) : error)
    })
    server.listen(port, HOST, () => {
      const address = server.address()
      const bound = typeof address === 'object' && address !== null ? address.port : port
      server.close(() => resolve(bound))
    })
  })
}
