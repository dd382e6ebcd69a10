import type { Message, Micros } from '../../../../schemas/records.ts'
import type { TopicName } from '../../../../schemas/topics.ts'

/** Start of the small world: 2024-08-08T23:54:00Z. It lasts four minutes. */
export const M: Micros = 1_723_161_240_000_000
export const SECOND: Micros = 1_000_000
export const MINUTE: Micros = 60 * SECOND
export const HOUR: Micros = 60 * MINUTE

/** A record and where it belongs. */
export type Fact = readonly [topic: TopicName, message: Message]

export const perp = 'binance:perp:BTCUSDT'
export const okx = 'okx:perp:BTC-USDT-SWAP'
