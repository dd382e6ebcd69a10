import { fixedText, trimmedText } from './decimal.ts'
import type { PerpMarket, SpotMarket } from './economy.ts'

/** What a market's venue counts in: spot markets trade single units. */
type Scale = Pick<SpotMarket, 'priceDecimals' | 'sizeDecimals'> & Partial<Pick<PerpMarket, 'factor' | 'priceFactor'>>

/** A price of one base unit as the venue writes it, with all of the market's decimals. */
export function priceText(market: Scale, price: number): string {
  return fixedText(unitsOf(price, market.priceDecimals + (market.priceFactor ?? 0)), market.priceDecimals)
}

/** Base units as the venue counts them, with all of the market's decimals. */
export function sizeText(market: Scale, size: number): string {
  return fixedText(unitsOf(size, market.sizeDecimals - (market.factor ?? 0)), market.sizeDecimals)
}

/** As `priceText`, without trailing zeros. */
export function shortPrice(market: Scale, price: number): string {
  return trimmedText(unitsOf(price, market.priceDecimals + (market.priceFactor ?? 0)), market.priceDecimals)
}

/** As `sizeText`, without trailing zeros. */
export function shortSize(market: Scale, size: number): string {
  return trimmedText(unitsOf(size, market.sizeDecimals - (market.factor ?? 0)), market.sizeDecimals)
}

/** A number rounded to `decimals`, with all of them. */
export function fixedNumber(value: number, decimals: number): string {
  return fixedText(unitsOf(value, decimals), decimals)
}

/** A number rounded to `decimals`, without trailing zeros. */
export function shortNumber(value: number, decimals: number): string {
  return trimmedText(unitsOf(value, decimals), decimals)
}

/** 10^power as decimal text: 1000, 0.01. */
export function powerText(power: number): string {
  return power >= 0 ? `1${'0'.repeat(power)}` : fixedText(1, -power)
}

/** Whole units of 10^-decimals, the nearest to the number's own decimal text: a float product would miss some. */
function unitsOf(value: number, decimals: number): bigint {
  const [digits = '0', exponent = '0'] = value.toExponential().split('e')
  const units = Math.round(Number(`${digits}e${Number(exponent) + decimals}`))
  return BigInt(Object.is(units, -0) ? 0 : units)
}
