export type FieldType = 'string' | 'number' | 'int' | 'number or null' | 'boolean' | 'timestamp' | 'object' | 'array'

export interface Endpoint {
  readonly path: string
  readonly priceUsdc: number
  /** Source: Limits, "Cache TTL"; decisions for those that the specification only names. */
  readonly ttlMs: number
  /** It tells of a range: its answer is kept here. */
  readonly range?: true
  /** A request that is answered. */
  readonly ask: string
  /** `*`: each value of an object; `[]`: each element of an array. */
  readonly fields: Readonly<Record<string, FieldType>>
  /** Objects with a closed set of keys. */
  readonly keys?: Readonly<Record<string, readonly string[]>>
  readonly refused: readonly (readonly [target: string, answer: string])[]
  readonly taken: readonly (readonly [target: string, body: object])[]
}
