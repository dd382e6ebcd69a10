/** Room for offsets: 2^44 are 17 years of 32,000 records a second in one partition. */
const OFFSETS = 2 ** 44
/** A version stays below 2^53, so that it is exact as a double. */
const GENERATION_MAX = 511

/** Version of what follows from the entry at `offset`: a higher generation beats every offset of a lower one. */
export function versionOf(generation: number, offset: number): number {
  return generation * OFFSETS + offset
}

/** The generation of a row of the topology; throws on one that versions cannot hold: a programmer's error. */
export function checkGeneration(generation: number): number {
  if (Number.isInteger(generation) && generation >= 1 && generation <= GENERATION_MAX) return generation
  throw new Error(`a generation is a whole number from 1 to ${GENERATION_MAX}, got ${generation}`)
}
