import { USDC_DECIMALS } from './networks.ts'

/** A price in USDC as atomic units, decimal digits, exactly: 0.005 is `5000`. Throws where it has more than six decimals. */
export function atomicUnits(priceUsdc: number): string {
  const [, whole = '', fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(String(priceUsdc)) ?? []
  if (whole === '' || fraction.length > USDC_DECIMALS) throw new Error(`${priceUsdc} USDC is no price`)
  return BigInt(whole + fraction.padEnd(USDC_DECIMALS, '0')).toString()
}
