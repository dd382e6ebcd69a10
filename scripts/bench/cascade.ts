import type { Bench } from '../figure.ts'
import { hoursOf, figuresOf } from './cascade/hours.ts'

const DAYS = 14
/** The weights were chosen in the market of the first; the others are markets that they have not seen. */
const SEEDS = [7, 11, 23, 41]

/**
 * What the classes of cascade risk are worth, in the simulator's market: over a fortnight of it, class by class, what was
 * liquidated in the hour that followed, as a share of open interest, and how far the price went, beside the mean of all
 * hours. Beside them what was liquidated of what the model had where marks went.
 */
const bench: Bench = () =>
  Promise.resolve(SEEDS.flatMap((seed) => figuresOf(`market ${seed}`, hoursOf({ days: DAYS, seed }))))
export default bench
