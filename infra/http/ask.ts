import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'

export interface Question {
  readonly method?: 'GET' | 'POST' | 'PUT'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** From the call to the answer's last byte. */
  readonly withinMs: number
  /** Of the answer; more of it is not read. */
  readonly bytesMax: number
}

export interface Answer {
  readonly status: number
  readonly text: string
}

type Send = (url: string, options: RequestOptions) => ClientRequest

/**
 * Asks once over HTTP or HTTPS and reads the whole answer, whatever its status; rejects where there is none. For what a
 * service asks now and then: whoever calls `fetch` once holds 8 MB for it as long as it lives.
 */
export async function ask(
  url: string,
  { method = 'GET', headers, body, withinMs, bytesMax }: Question,
): Promise<Answer> {
  const request: Send = (await (url.startsWith('https:') ? import('node:https') : import('node:http'))).request
  const signal = AbortSignal.timeout(withinMs)
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { method, signal, ...(headers !== undefined && { headers }) }
    request(url, options).on('response', resolve).on('error', reject).end(body)
  })
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new RangeError(`the answer of ${new URL(url).origin} has more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return { status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }
}
