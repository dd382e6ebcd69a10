/** An error as ClickHouse reports it over HTTP: its code decides the status. */
export class QueryError extends Error {
  /** ClickHouse's exception code. */
  readonly code: number
  readonly status: number
  constructor(code: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.status = statusOf[code] ?? 500
  }

  /** From whatever the engine threw: `Code: N. DB::Exception: ...`. */
  static from(error: unknown): QueryError {
    if (error instanceof QueryError) return error
    const text = error instanceof Error ? error.message : String(error)
    const inner = text.replace(/^Code: \d+\. DB::Exception: (?=Code: \d+\. )/, '')
    const code = Number(/Code: (\d+)/.exec(inner)?.[1] ?? UNKNOWN_EXCEPTION)
    return new QueryError(code, inner.replace(/^Code: \d+\. DB::Exception: /, ''), { cause: error })
  }

  /** The text that a client sees, in the server's own form. */
  text(version: string): string {
    const message = /\(version [^)]*\)/.test(this.message) ? this.message : `${this.message} (version ${version})`
    return `Code: ${this.code}. DB::Exception: ${message}`
  }
}

const UNKNOWN_EXCEPTION = 1002

/** Exception codes that this server raises itself. */
export const code = {
  badArguments: 36,
  notImplemented: 48,
  syntaxError: 62,
  unknownSetting: 115,
  readonly: 164,
  tooManyQueries: 202,
  tooManyBytes: 307,
  sessionLocked: 373,
  cannotDecompress: 271,
  authenticationFailed: 516,
  aborted: 236,
} as const

/** As the server maps them (HTTPHandler): what is not here is 500. */
const statusOf: Readonly<Record<number, number>> = {
  6: 400,
  16: 404,
  27: 400,
  36: 400,
  38: 400,
  41: 400,
  43: 400,
  46: 404,
  47: 404,
  48: 501,
  53: 400,
  60: 404,
  62: 400,
  72: 400,
  81: 404,
  115: 404,
  117: 400,
  159: 408,
  192: 403,
  193: 403,
  194: 403,
  202: 503,
  271: 400,
  307: 413,
  497: 403,
  516: 403,
}

/**
 * What follows the rows when a query fails after its first bytes were sent: a block between two markers that carries
 * the response's tag (`X-ClickHouse-Exception-Tag`), the message and its length, so that no row can be taken for it.
 */
export function exceptionBlock(tag: string, text: string): string {
  const line = `${text}\n`
  return `\r\n__exception__\r\n${tag}\r\n${line}${Buffer.byteLength(line)} ${tag}\r\n__exception__\r\n`
}
