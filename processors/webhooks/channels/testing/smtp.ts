import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { createServer } from 'node:tls'

/** A mail that was taken: the envelope's recipient, and headers and text as they came. */
interface TakenMail {
  readonly to: string
  readonly data: string
}

export interface SmtpStandIn {
  readonly url: URL
  readonly taken: readonly TakenMail[]
  /** Connections that were made. */
  readonly connections: () => number
  /** Recipients named `slow` that wait to be taken, and messages to those named `scanned` that are being looked through. */
  readonly held: () => number
  /** Takes them. */
  letGo(): void
  close(): Promise<void>
}

/** Replies to RCPT TO by the part before the @; others are taken. */
const refusals: Readonly<Record<string, string>> = {
  gone: '550 5.1.1 mailbox unavailable',
  full: '552 5.2.2 mailbox full',
  busy: '450 4.2.0 mailbox busy, try again later',
}

/** A server of RFC 5321 over TLS that wants a password and takes mail for anybody but those in `refusals`. */
export async function startSmtp(
  certificate: { cert: string; key: string },
  password = 'smtp-secret',
): Promise<SmtpStandIn> {
  const taken: TakenMail[] = []
  const open = new Set<Socket>()
  const held: (() => void)[] = []
  let connections = 0
  const server = createServer(certificate, (socket) => {
    connections += 1
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    socket.on('error', () => undefined)
    converse(socket, password, taken, held)
  })
  server.on('tlsClientError', () => undefined)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const url = new URL(`smtps://alerts:${password}@localhost:${port}`)
  const close = async (): Promise<void> => {
    for (const socket of open) socket.destroy()
    await once(server.close(), 'close')
  }
  const letGo = (): void => {
    for (const answer of held.splice(0)) answer()
  }
  return { url, taken, connections: () => connections, held: () => held.length, letGo, close }
}

function converse(socket: Socket, password: string, taken: TakenMail[], held: (() => void)[]): void {
  const login = `\0alerts\0${password}`
  let [buffer, to, inData] = ['', '', false]
  const say = (line: string): void => void socket.write(`${line}\r\n`)
  const command = (line: string): void => {
    const [, name = ''] = /^(\w+)/.exec(line.toUpperCase()) ?? []
    if (name === 'EHLO') socket.write('250-stand-in\r\n250 AUTH PLAIN\r\n')
    else if (name === 'AUTH')
      say(
        Buffer.from(line.split(' ')[2] ?? '', 'base64').toString() === login
          ? '235 welcome'
          : '535 5.7.8 wrong password',
      )
    else if (name === 'RCPT') {
      to = /<(.*)>/.exec(line)?.[1] ?? ''
      const [name = ''] = to.split('@')
      if (name === 'slow') held.push(() => say('250 ok'))
      else say(refusals[name] ?? '250 ok')
    } else if (name === 'DATA') {
      inData = true
      say('354 go on')
    } else if (name === 'QUIT') socket.end('221 bye\r\n')
    else say('250 ok')
  }
  socket.on('data', (chunk: Buffer) => {
    buffer += chunk.toString('utf8')
    for (;;) {
      const end = inData ? '\r\n.\r\n' : '\r\n'
      const at = buffer.indexOf(end)
      if (at < 0) return
      const part = buffer.slice(0, at)
      buffer = buffer.slice(at + end.length)
      if (inData) {
        taken.push({ to, data: part })
        inData = false
        if (to.startsWith('scanned@')) held.push(() => say('250 2.0.0 taken'))
        else say('250 2.0.0 taken')
      } else command(part)
    }
  })
  say('220 stand-in ESMTP')
}
