/** Fits sums of slopes to measured points, and says how far what they tell may be off. */

/** A value that was measured under `x`: one number for each slope, of the base 1. */
export interface Sample {
  readonly x: readonly number[]
  readonly value: number
  /** How far it may be off compared with others: a deviation twice as large counts half as much. */
  readonly scale: number
}

/** What a fit tells of an `x`: the value, and half the width of the range that holds 95 of 100 measured ones. */
export interface Told {
  readonly value: number
  readonly offBy: number
}

export interface Fit {
  /** For each column of `x`; none is below 0, since no load gives processor time or memory back. */
  readonly slopes: readonly number[]
  tell(x: readonly number[], scale: number): Told
}

/** Student's t: 95 % of what is drawn lies within, by degrees of freedom from 1 on. */
const T_95 = [12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.2, 2.18, 2.16, 2.14, 2.13]
const T_95_MANY = 2.13

/** Weighted least squares with no slope below 0. Throws where there are not more points than slopes, or they do not tell them apart. */
export function fit(samples: readonly Sample[]): Fit {
  const columns = samples[0]?.x.length ?? 0
  const freedom = samples.length - columns
  if (freedom < 1)
    throw new Error(`${columns} slopes need more than ${samples.length} points: npm run bench -- capacity`)
  const whole = inverse(normal(samples, range(columns)))
  const slopes = nonNegative(samples, range(columns))
  const left = samples.reduce((sum, { x, value, scale }) => sum + ((value - dot(slopes, x)) / scale) ** 2, 0)
  const [variance, t] = [left / freedom, T_95[freedom - 1] ?? T_95_MANY]
  return {
    slopes,
    tell: (x, scale) => {
      const farther = dot(
        whole.map((row) => dot(row, x)),
        x,
      )
      return { value: dot(slopes, x), offBy: t * Math.sqrt(variance * (scale ** 2 + farther)) }
    },
  }
}

/** The slopes; the column that would take most away is left out until none does. */
function nonNegative(samples: readonly Sample[], columns: readonly number[]): number[] {
  const solved = inverse(normal(samples, columns)).map((row) => dot(row, rightSide(samples, columns)))
  const given = columns.map(
    (column, index) => (solved[index] ?? 0) * Math.max(...samples.map(({ x }) => x[column] ?? 0)),
  )
  const least = Math.min(...given)
  const others = columns.filter((_, index) => given[index] !== least)
  if (least < 0) return nonNegative(samples, others)
  return range(samples[0]?.x.length ?? 0).map((column) => solved[columns.indexOf(column)] ?? 0)
}

function normal(samples: readonly Sample[], columns: readonly number[]): number[][] {
  return columns.map((one) =>
    columns.map((other) =>
      samples.reduce((sum, { x, scale }) => sum + ((x[one] ?? 0) * (x[other] ?? 0)) / scale ** 2, 0),
    ),
  )
}

function rightSide(samples: readonly Sample[], columns: readonly number[]): number[] {
  return columns.map((column) =>
    samples.reduce((sum, { x, value, scale }) => sum + ((x[column] ?? 0) * value) / scale ** 2, 0),
  )
}

/** Of a symmetric matrix without a zero on its way (Gauss and Jordan). */
function inverse(matrix: readonly (readonly number[])[]): number[][] {
  const size = matrix.length
  const rows = matrix.map((row, index) => [...row, ...range(size).map((other) => Number(other === index))])
  for (const at of range(size)) {
    const pivot = rows[at]?.[at] ?? 0
    if (!(pivot > (matrix[at]?.[at] ?? 0) * 1e-9))
      throw new Error('the points do not tell the slopes apart: npm run bench -- capacity')
    const own = (rows[at] = (rows[at] ?? []).map((value) => value / pivot))
    for (const [index, row] of rows.entries()) {
      const times = row[at] ?? 0
      if (index !== at) rows[index] = row.map((value, column) => value - times * (own[column] ?? 0))
    }
  }
  return rows.map((row) => row.slice(size))
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}
