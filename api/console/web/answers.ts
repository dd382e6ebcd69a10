/** What pages are answered. Types alone: the API's are those of the generated client, and none of them is served. */
// rule: imports - types of the client, which is made of the route table
export type * from '../../../scripts/clients/typescript/src/api.ts'

/** `/view/symbols`: what is streamed, and the server's time. */
export interface SymbolsAnswer {
  readonly now: number
  readonly symbols: readonly { readonly asset: string; readonly symbol: string }[]
}
