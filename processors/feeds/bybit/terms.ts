import { isAmount, isSigned, plain, refusedField } from '../fact-fields.ts'
import { badBody, isCount, isDecimal, isRecord, isSymbol } from '../fields.ts'
import type { FactRow, Poll, TermsFact } from '../source.ts'
import { listOf, refusal } from './backfill.ts'
import { LINEAR_LIST, nextOf } from './listing.ts'

type Calls = Pick<Poll, 'call' | 'parse'>
type Tier = NonNullable<TermsFact['tiers']>[number]

/** "Interest rate: 0.03 % a day" for every contract. */
const INTEREST_DAILY = 0.0003

/** Funding interval (minutes), cap, floor and highest leverage of all contracts, out of the same list as the markets. */
export const contractTerms: Calls = {
  call: () => ({ path: LINEAR_LIST, cost: 1 }),
  parse(_whole, body) {
    const list = listOf(body)
    if (list === undefined) return refusal(body) ?? badBody('a result with a list')
    const rows = list.map(readContract).filter((row) => row !== undefined)
    return { kind: 'rows', rows, ...nextOf(body, LINEAR_LIST) }
  },
}

function readContract(row: unknown): FactRow | undefined {
  if (!isRecord(row)) return refusedField
  if (row['contractType'] !== 'LinearPerpetual' || row['settleCoin'] !== 'USDT') return undefined
  const { symbol, fundingInterval, upperFundingRate: cap, lowerFundingRate: floor, leverageFilter } = row
  const leverage = isRecord(leverageFilter) ? leverageFilter['maxLeverage'] : undefined
  if (!isSymbol(symbol) || !isCount(fundingInterval) || fundingInterval === 0) return refusedField
  if (!isSigned(cap) || !isSigned(floor) || !isDecimal(leverage)) return refusedField
  return {
    kind: 'terms',
    symbol,
    intervalHours: fundingInterval / 60,
    cap: Number(cap),
    floor: Number(floor),
    interestDaily: INTEREST_DAILY,
    maxLeverage: Number(leverage),
  }
}

/** Maintenance margin by size of the position, of one contract. */
export const riskLimits: Calls = {
  call: (symbol) => ({
    path: `/v5/market/risk-limit?category=linear&symbol=${encodeURIComponent(symbol)}`,
    cost: 1,
  }),
  parse(symbol, body) {
    const list = listOf(body)
    if (list === undefined) return refusal(body) ?? badBody('a result with a list')
    return { kind: 'rows', rows: [readLimits(symbol, list)] }
  },
}

function readLimits(symbol: string, list: readonly unknown[]): FactRow {
  const limits = list.map((row) => readLimit(symbol, row)).filter((limit) => limit !== undefined)
  if (limits.length === 0 || limits.length < list.length) return refusedField
  return { kind: 'terms', symbol, tiers: limits.toSorted((a, b) => (a.upTo ?? Infinity) - (b.upTo ?? Infinity)) }
}

/**
 * "riskLimitValue: position limit", in quote units. Documentation has margin rates in percent ("0.5"), clients have seen
 * fractions ("0.005"): initial margin and leverage are each other's inverse, which tells the unit.
 */
function readLimit(asked: string, row: unknown): Tier | undefined {
  if (!isRecord(row) || row['symbol'] !== asked) return undefined
  const { riskLimitValue: upTo, maxLeverage } = row
  const maintenance = plain(row['maintenanceMargin'])
  const initial = plain(row['initialMargin'])
  const deduction = row['mmDeduction'] === undefined || row['mmDeduction'] === '' ? '0' : row['mmDeduction']
  if (!isDecimal(upTo) || !isDecimal(maxLeverage) || !isAmount(deduction)) return undefined
  if (!isDecimal(maintenance) || !isDecimal(initial)) return undefined
  const unit = Number(initial) * Number(maxLeverage) > 10 ? 'e-2' : ''
  return { upTo: Number(upTo), rate: Number(`${maintenance}${unit}`), deduction: Number(deduction) }
}
