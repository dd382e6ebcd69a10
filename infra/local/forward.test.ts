import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { Forward } from './forward.ts'

const servers: Server[] = []
const sockets: Socket[] = []
let forward: Forward | undefined

afterEach(() => {
  forward?.close()
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const server of servers.splice(0)) server.close()
})

/** Answers each message with its name; gives its port. */
async function speaker(name: string): Promise<number> {
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('data', (bytes) => socket.write(`${name}:${String(bytes)}`))
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function client(): Promise<Socket> {
  const socket = connect(forward?.port ?? 0, '127.0.0.1')
  sockets.push(socket)
  await once(socket, 'connect')
  return socket
}

async function said(socket: Socket, text: string): Promise<string> {
  socket.write(text)
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  return String(bytes)
}

describe('a forward', () => {
  it('gives each connection to the next of its targets, and passes over one that is gone', async () => {
    const [a, b, gone] = [await speaker('a'), await speaker('b'), await speaker('gone')]
    servers.pop()?.close()
    forward = await Forward.listen(0, [a, gone, b])
    const heard = []
    for (let n = 0; n < 4; n++) heard.push(await said(await client(), 'x'))
    expect(heard).toEqual(['a:x', 'b:x', 'b:x', 'a:x'])
  })

  it('lets nothing pass while it is cut, and all of it afterwards', async () => {
    forward = await Forward.listen(0, [await speaker('a')])
    const before = await client()
    expect(await said(before, '1')).toBe('a:1')
    forward.isCut = true
    const during = await client()
    const heard: string[] = []
    for (const socket of [before, during]) socket.on('data', (bytes) => heard.push(String(bytes)))
    before.write('2')
    during.write('3')
    forward.isCut = true
    await new Promise((resolve) => setImmediate(resolve))
    expect(heard).toEqual([])
    forward.isCut = false
    await expect.poll(() => heard.toSorted()).toEqual(['a:2', 'a:3'])
  })

  it('ends a connection whose target ends, and one that nobody takes', async () => {
    const port = await speaker('a')
    forward = await Forward.listen(0, [port])
    const socket = await client()
    await said(socket, '1')
    const ended = once(socket, 'close')
    for (const each of sockets) if (each !== socket) each.destroy()
    await ended
    servers[0]?.close()
    await once(await client(), 'close')
  })
})
