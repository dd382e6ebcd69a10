import type { Next, ParameterizedContext } from 'koa'
import {
  admissionOf,
  isLoopbackName,
  nameOf,
  refusalOf,
  type GuardedRequest,
  type AllowedHosts,
} from '../../infra/http/guard.ts'
import { ApiError } from './errors.ts'

/** Where callers reach the API. */
export interface Address {
  /** The address that it listens on. */
  readonly host: string
  /** Names of the API beside this machine's own, for what a proxy passes on. */
  readonly names: readonly string[]
  /** Base address that payment offers name; empty: none. */
  readonly publicUrl: string
  readonly trustProxy: boolean
}

/** The names that the API goes by: any where it is reached from elsewhere, directly or through a proxy of our own. */
export function allowedHostsOf({ host, names, publicUrl, trustProxy }: Address): AllowedHosts {
  if (trustProxy || !isLoopbackName(host)) return 'any'
  const named = publicUrl === '' ? [] : [new URL(publicUrl).hostname]
  return [...named, ...names.map(nameOf)]
}

const reading = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Refuses what web pages of other sites ask of an API that is this machine's alone: nobody but its owner may use it, and
 * a page must not do so in the owner's browser. By a public name everyone may ask, pages too, as on any server. Where
 * routes are paid for, pages may read here as well, and those of this machine may pay and create.
 */
export function assertAdmitted(
  { req }: Pick<ParameterizedContext, 'req'>,
  allowedHosts: AllowedHosts,
  sells: boolean,
): void {
  const name = nameOf(req.headers.host ?? '')
  if (allowedHosts === 'any' || allowedHosts.includes(name)) return
  const admission = admissionOf(req, allowedHosts)
  if (admission === 'allowed' || (admission === 'foreign' && sells && isCustomer(req))) return
  const { error, message } = refusalOf(
    admission,
    'ask http://127.0.0.1 or localhost with its port, or name it in API_NAMES or PAYMENT_PUBLIC_URL.',
  )
  throw new ApiError(error, message)
}

/** Whether a path can be read of the request's target: Node takes some, such as `http://[`, of which that throws. */
export function hasPath(context: Pick<ParameterizedContext, 'path'>): boolean {
  try {
    return typeof context.path === 'string'
  } catch {
    return false
  }
}

/** A page that reads, or one of this machine. */
function isCustomer({ method = '', headers: { origin = '' } }: GuardedRequest): boolean {
  return reading.has(method) || (URL.canParse(origin) && isLoopbackName(new URL(origin).hostname))
}

const READABLE =
  'PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE, Credit-Charged, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, X-Request-Id, Log-Position, Preference-Applied'
const SENDABLE =
  'Content-Type, Authorization, Idempotency-Key, Last-Event-ID, PAYMENT-SIGNATURE, X-PAYMENT, X-API-Key, SIGN-IN-WITH-X, Access-Control-Expose-Headers, X-Request-Id, Prefer'

type Context = ParameterizedContext<object>

/** Clients that pay run in web pages, too. There are no cookies: a page can do no more than anyone else. */
export function openToPages(context: Context, next: Next): Promise<void> {
  context.set('Access-Control-Allow-Origin', '*')
  context.set('Access-Control-Expose-Headers', READABLE)
  return next()
}

export function allowPreflight(context: Context, methods: readonly string[]): void {
  context.set('Access-Control-Allow-Methods', methods.join(', '))
  context.set('Access-Control-Allow-Headers', SENDABLE)
  context.set('Access-Control-Max-Age', '600')
}
