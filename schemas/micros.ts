/** Microseconds since the Unix epoch. */
export type Micros = number
