/** One system: started with these trades a second and quiet symbols, measured once for each of its phases. */
export interface Step {
  readonly trades: number
  readonly quiet: number
  readonly phases: readonly { readonly alerts: number; readonly requests: number }[]
  /** Not fitted, but told by the fit and compared. */
  readonly isHeldOut?: true
}

const PLAIN = [{ alerts: 0, requests: 0 }] as const

/**
 * Rates of trades up to more than a machine of two cores keeps up with, where one is refused; quiet symbols at two of them;
 * requests and alerts where there is room for all three. The last is of another rate and mix than any other.
 */
export const steps: readonly Step[] = [
  { trades: 100, quiet: 0, phases: PLAIN },
  {
    trades: 1_000,
    quiet: 0,
    phases: [
      { alerts: 0, requests: 0 },
      { alerts: 0, requests: 300 },
      { alerts: 0, requests: 800 },
      { alerts: 20_000, requests: 0 },
    ],
  },
  { trades: 1_000, quiet: 300, phases: PLAIN },
  { trades: 3_000, quiet: 0, phases: PLAIN },
  { trades: 3_000, quiet: 150, phases: PLAIN },
  { trades: 6_000, quiet: 0, phases: PLAIN },
  { trades: 9_000, quiet: 0, phases: PLAIN },
  { trades: 20_000, quiet: 0, phases: PLAIN },
  { trades: 14_000, quiet: 0, phases: PLAIN },
  { trades: 2_000, quiet: 200, phases: [{ alerts: 4_000, requests: 200 }], isHeldOut: true },
]
