/** What pages are answered. Types alone: the API's are those of the generated client, and none of them is served. */
// rule: imports - types of the client, which is made of the route table
export type * from '../../../scripts/clients/typescript/src/api.ts'

/** `/view/symbols`: what is streamed, and the server's time. */
export interface SymbolsAnswer {
  readonly now: number
  readonly symbols: readonly { readonly asset: string; readonly symbol: string }[]
}

/** `/view/streams`: by symbol what is known of each venue's trades of the last hour; null: nothing can be said. */
export interface StreamsAnswer {
  readonly now: number
  readonly venues: readonly string[]
  readonly streams: readonly {
    readonly symbol: string
    readonly status: Readonly<Record<string, string>> | 'warming_up' | null
  }[]
}
