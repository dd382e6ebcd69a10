import type { RestAnswer, RestCall } from './venue.ts'

/** What a call came to. `limited` and `failed` may be tried again, `unavailable` rarely; `error`: the venue's own word. */
export type RestOutcome<Row> =
  | { readonly kind: 'rows'; readonly rows: readonly Row[]; readonly next?: RestCall }
  | { readonly kind: 'limited'; readonly waitMs: number }
  | { readonly kind: 'unavailable'; readonly status: number; readonly waitMs: number }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'error'; readonly code: string; readonly message: string }

/** A venue's REST interface as the repair sees it: budgeted, with deadlines, never throwing. */
export interface Rest {
  get<Row>(call: RestCall, parse: (body: unknown) => RestAnswer<Row>): Promise<RestOutcome<Row>>
}
