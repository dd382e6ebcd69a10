/** A seeded stream of random numbers (sfc32): the same seed gives the same stream on every machine. */
export class Random {
  private a: number
  private b: number
  private c: number
  private counter = 1
  private spare: number | undefined

  constructor(seed: number, stream = 0) {
    this.a = seed | 0
    this.b = (seed / 0x1_0000_0000) | 0
    this.c = stream | 0
    for (let round = 0; round < 16; round += 1) this.bits()
  }

  /** 32 random bits as an unsigned number. */
  bits(): number {
    const sum = (((this.a + this.b) | 0) + this.counter) | 0
    this.counter = (this.counter + 1) | 0
    this.a = this.b ^ (this.b >>> 9)
    this.b = (this.c + (this.c << 3)) | 0
    this.c = (((this.c << 21) | (this.c >>> 11)) + sum) | 0
    return sum >>> 0
  }

  /** In [0, 1). */
  unit(): number {
    return this.bits() / 0x1_0000_0000
  }

  /** A whole number in [0, end). */
  below(end: number): number {
    return Math.floor(this.unit() * end)
  }

  chance(probability: number): boolean {
    return this.unit() < probability
  }

  /** Standard normal (Box-Muller). */
  normal(): number {
    if (this.spare !== undefined) {
      const value = this.spare
      this.spare = undefined
      return value
    }
    const radius = Math.sqrt(-2 * Math.log(1 - this.unit()))
    const angle = 2 * Math.PI * this.unit()
    this.spare = radius * Math.sin(angle)
    return radius * Math.cos(angle)
  }

  /** How many events of a Poisson process fall into an interval in which `mean` are expected. */
  poisson(mean: number): number {
    if (mean > 30) return Math.max(0, Math.round(mean + Math.sqrt(mean) * this.normal()))
    const limit = Math.exp(-mean)
    let product = this.unit()
    let count = 0
    while (product > limit) {
      product *= this.unit()
      count += 1
    }
    return count
  }
}

/**
 * Smooth noise over time that has no state: the same seed, stream and time give the same value on every machine, so
 * what it drives has a past of any length and goes on after a restart without being kept.
 */
export class Noise {
  private readonly seed: number
  private readonly stream: number
  private readonly periodMicros: number
  private cell = Number.NaN
  private from = 0
  private to = 0

  constructor(seed: number, stream: number, periodSeconds: number) {
    this.seed = seed
    this.stream = stream
    this.periodMicros = periodSeconds * 1e6
  }

  /** About standard normal, within 3 of zero; changes over about one period. */
  at(time: number): number {
    const place = time / this.periodMicros
    const cell = Math.floor(place)
    if (cell !== this.cell) {
      // Asked in order of time, as it mostly is, half of the work is done already.
      this.from = cell === this.cell + 1 ? this.to : this.knot(cell)
      this.to = this.knot(cell + 1)
      this.cell = cell
    }
    const part = place - cell
    return this.from + (this.to - this.from) * part * part * (3 - 2 * part)
  }

  /** Three uniform numbers make a bell. */
  private knot(cell: number): number {
    const sum = unitOf(this.seed, this.stream, cell * 3)
    return (sum + unitOf(this.seed, this.stream, cell * 3 + 1) + unitOf(this.seed, this.stream, cell * 3 + 2) - 1.5) * 2
  }
}

/** Noise of several periods, each with its own weight. */
export class Layers {
  private readonly layers: readonly { readonly noise: Noise; readonly weight: number }[]

  /** `layers`: period in seconds, weight. */
  constructor(seed: number, stream: number, layers: readonly (readonly [number, number])[]) {
    this.layers = layers.map(([period, weight], index) => ({
      noise: new Noise(seed, stream * 31 + index, period),
      weight,
    }))
  }

  at(time: number): number {
    let sum = 0
    for (const { noise, weight } of this.layers) sum += weight * noise.at(time)
    return sum
  }
}

/** A number in [0, 1) that belongs to three others. */
export function unitOf(seed: number, stream: number, index: number): number {
  let bits = mix((seed | 0) ^ Math.imul(stream | 0, 0x9e3779b1))
  bits = mix(bits ^ (index | 0))
  bits = mix(bits ^ Math.floor(index / 0x1_0000_0000))
  return (bits >>> 0) / 0x1_0000_0000
}

/** A stream's number from a name. */
export function streamOf(name: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < name.length; index += 1) hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193)
  return hash >>> 0
}

/** Spreads a difference of one bit over all (murmur3's last step). */
function mix(value: number): number {
  let bits = value ^ (value >>> 16)
  bits = Math.imul(bits, 0x85ebca6b)
  bits ^= bits >>> 13
  bits = Math.imul(bits, 0xc2b2ae35)
  return bits ^ (bits >>> 16)
}
