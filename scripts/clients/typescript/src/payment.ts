/** Who pays: `payer.ts` has one that keeps to a budget. Rejects, before it signs, what is not to be paid. */
export interface PaidBy {
  pay(asked: { readonly header: (name: string) => string | null; readonly body: unknown }): Promise<Payment>
}

/** A signed payment: the headers that carry it, and what it is. */
export interface Payment {
  readonly headers: Readonly<Record<string, string>>
  readonly usdc: number
  /** What it was sent with, which is among its headers: the same payment with another key is refused. */
  readonly idempotencyKey?: string
}
