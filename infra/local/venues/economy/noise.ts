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
