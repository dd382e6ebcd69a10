import { request as overHttp, type IncomingHttpHeaders } from 'node:http'
import { request as overHttps } from 'node:https'

export interface Answered {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** One request with exactly these headers, `Host` among them, which `fetch` would not let us choose. */
export function ask(
  url: string,
  headers: Readonly<Record<string, string>>,
  { method = 'GET', body = '' }: { readonly method?: string; readonly body?: string } = {},
): Promise<Answered> {
  const send = url.startsWith('https:') ? overHttps : overHttp
  return new Promise((resolve, reject) => {
    const request = send(url, { method, headers, agent: false, rejectUnauthorized: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const { statusCode = 0, headers: answered } = response
        resolve({ status: statusCode, headers: answered, text: Buffer.concat(chunks).toString() })
      })
      response.on('error', reject)
    })
    request.on('error', reject)
    request.end(body)
  })
}

/** What a browser sends for a page of another site that posts a form or a text without asking first. */
export const foreignPost = {
  'content-type': 'text/plain',
  origin: 'https://evil.example',
  'sec-fetch-site': 'cross-site',
  'sec-fetch-mode': 'no-cors',
} as const

/**
 * The statuses that a port gives to web pages of other sites: one whose name was pointed to this machine, one that posts
 * across sites, one that shows what it finds here as an image. A port with a guard gives `guarded`.
 */
export async function asPages(url: string, body = ''): Promise<number[]> {
  const { port } = new URL(url)
  const evil = `evil.example:${port}`
  const answers = [
    await ask(url, { host: evil, origin: `http://${evil}` }, { method: 'POST', body }),
    await ask(url, { host: evil }),
    await ask(url, foreignPost, { method: 'POST', body }),
    await ask(url, { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }),
  ]
  return answers.map(({ status }) => status)
}

export const guarded: readonly number[] = [421, 421, 403, 403]
