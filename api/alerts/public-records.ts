import type { RecordType } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'

/**
 * What `GET /records/:id` may show: the record types by topic. It is a list of what may, not of what may not, so that a
 * new record is hidden until somebody decides otherwise. Commands hold sealed URLs and wallets; they are not in it.
 */
const shown: Readonly<Partial<Record<TopicName, readonly RecordType[]>>> = {
  'market.trades': ['trade', 'gap', 'mark'],
  'market.tickers': ['spot_ticker', 'price_range', 'mark'],
  'market.funding': ['derivative_ticker', 'settlement', 'long_short_ratio', 'contract_terms', 'mark'],
  'market.liquidations': ['liquidation', 'mark'],
  'market.candles': ['candle', 'mark'],
  'market.history': ['venue_candle'],
  'market.instruments': ['instrument'],
  'derived.flow': ['flow', 'flow_hour', 'cvd', 'mark'],
  'derived.signals': ['signal', 'mark'],
  'derived.funding': ['funding', 'mark'],
  'derived.audit': ['audit', 'mark'],
  'alerts.inputs': ['composite_price', 'liquidation_risk', 'metric', 'mark'],
}

/** Whether anything of the topic may be shown: others are not even read. */
export function isPublicTopic(topic: TopicName): boolean {
  return shown[topic] !== undefined
}

export function isPublicRecord(topic: TopicName, type: RecordType): boolean {
  return shown[topic]?.includes(type) === true
}
