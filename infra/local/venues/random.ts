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
