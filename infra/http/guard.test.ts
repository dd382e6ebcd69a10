import { once } from 'node:events'
import { createServer, request, type IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { closeServer, listen } from './ops.ts'
import { admissionOf, isLoopbackName, refuses, type Admission, type GuardedRequest } from './guard.ts'

const own = 'http://127.0.0.1:3001'
const host = '127.0.0.1:3001'

describe('who is let in without a token', () => {
  it.each<[string, Admission, string, GuardedRequest['headers']]>([
    ['a program', 'allowed', 'POST', { host }],
    ['the address bar', 'allowed', 'GET', { host, 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }],
    [
      'a page of the console',
      'allowed',
      'POST',
      { host, origin: own, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' },
    ],
    ['the console as localhost', 'allowed', 'GET', { host: 'localhost:3001' }],
    ['the console over IPv6', 'allowed', 'GET', { host: '[::1]:3001', origin: 'http://[::1]:3001' }],
    ['a link from elsewhere', 'allowed', 'GET', { host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }],
    [
      'a name that was pointed here',
      'wrong-host',
      'GET',
      { host: 'evil.example:3001', origin: 'http://evil.example:3001' },
    ],
    ['a name that only begins like ours', 'wrong-host', 'GET', { host: 'localhost.evil.example' }],
    ['a name that only begins like our address', 'wrong-host', 'GET', { host: '127.0.0.1.evil.example:3001' }],
    ['nobody’s name', 'wrong-host', 'GET', {}],
    [
      'a page of another site',
      'foreign',
      'GET',
      { host, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    ],
    [
      'a form of another site',
      'foreign',
      'POST',
      { host, origin: 'https://evil.example', 'sec-fetch-mode': 'navigate' },
    ],
    ['a sandboxed page', 'foreign', 'POST', { host, origin: 'null' }],
    [
      'a page of another port',
      'foreign',
      'POST',
      { host, origin: 'http://127.0.0.1:8080', 'sec-fetch-site': 'same-site' },
    ],
    [
      'an image on another site',
      'foreign',
      'GET',
      { host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
    ],
    [
      'a form of another site without an origin',
      'foreign',
      'POST',
      { host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
    ],
  ])('%s: %s', (_who, admission, method, headers) => {
    expect(admissionOf({ method, headers }, [])).toBe(admission)
  })

  it('behind a token is whoever asks by any name, but no other site', () => {
    const asked = (headers: GuardedRequest['headers']): Admission => admissionOf({ method: 'POST', headers }, 'any')
    expect(asked({ host: 'console.example' })).toBe('allowed')
    expect(asked({ host: 'console.example', origin: 'https://console.example' })).toBe('allowed')
    expect(asked({ host: 'console.example', origin: 'https://evil.example' })).toBe('foreign')
  })

  it.each([
    ['127.0.0.1', true],
    ['127.8.8.8', true],
    ['::1', true],
    ['localhost', true],
    ['0.0.0.0', false],
    ['10.0.0.1', false],
    ['::', false],
  ])('%s is this machine alone: %s', (name, is) => {
    expect(isLoopbackName(name)).toBe(is)
  })
})

it('refuses a target that no URL can be read of', async () => {
  const server = createServer((asked, response) => {
    if (!refuses(asked, response, [])) response.end('in')
  })
  const port = await listen(server, '127.0.0.1', 0)
  const statusOf = async (target: string): Promise<number | undefined> => {
    const sent = request({ host: '127.0.0.1', port, path: target, agent: false }).end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    answer.resume()
    return answer.statusCode
  }
  expect([await statusOf('http://['), await statusOf('/a?b=['), await statusOf('/')]).toEqual([400, 200, 200])
  await closeServer(server)
})
