/** The client's public face; `./pay` beside it brings the payer, which needs @x402/fetch, @x402/evm and viem. */
export type * from './api.ts'
export { operations, type OperationName } from './api.ts'
export { MarketDataClient, type CallOptions, type ClientOptions, type Reply, type Sent } from './client.ts'
export * from './errors.ts'
export type { PaidBy, Payment } from './payment.ts'
export { verifyStandard, verifySvc } from './verify.ts'
