import { alerts, ALERTS } from './alerts/alerts.ts'
import { audit, AUDIT } from './audit/audit.ts'
import { cvd, CVD } from './cvd/cvd.ts'
import { funding, FUNDING } from './funding/funding.ts'
import type { ProcessorRow } from './kernel/processor.ts'
import { liquidated, LIQUIDATED } from './liquidated/liquidated.ts'
import { liquidations, LIQUIDATIONS } from './liquidations/liquidations.ts'
import { presentRow } from './present/present.ts'
import { prices, PRICES } from './prices/prices.ts'

/** Every processor of the market and of alerts: what it reads, what it writes, where its state is. Claims, groups, tasks and lag follow from it. */
export const topology: readonly ProcessorRow[] = [
  {
    name: CVD,
    inputs: ['market.trades'],
    outputs: ['derived.flow', 'derived.signals', 'alerts.inputs'],
    state: 'state.cvd',
    retold: ({ type, value }) =>
      type === 'flow'
        ? value.bucket
        : type === 'flow_hour'
          ? value.hour
          : type === 'flow_five'
            ? value.start
            : undefined,
    generation: 5,
    reason: 'what is traded in five minutes is told',
    core: cvd,
  },
  {
    name: ALERTS,
    inputs: ['alerts.inputs'],
    outputs: ['alerts.events', 'alerts.state', 'alerts.triggers'],
    state: 'state.alerts',
    // not to be raised: commands that made alerts which stand may have been cut from the log; `load` reads former states
    generation: 1,
    reason: 'first version',
    core: alerts,
  },
  {
    name: PRICES,
    inputs: ['market.tickers'],
    outputs: ['alerts.inputs'],
    state: 'state.prices',
    generation: 3,
    reason: 'candles of a time without prices are told minute by minute',
    core: prices,
  },
  {
    name: FUNDING,
    inputs: ['market.funding'],
    outputs: ['derived.funding', 'derived.signals', 'alerts.inputs'],
    state: 'state.funding',
    paceMs: 250,
    generation: 1,
    reason: 'first version',
    core: funding,
  },
  {
    name: LIQUIDATIONS,
    inputs: ['market.funding'],
    outputs: ['alerts.inputs', 'derived.signals'],
    state: 'state.liquidations',
    paceMs: 250,
    generation: 2,
    reason: 'other shares of leverage: what is built up is at risk, little of what stood at first sight',
    core: liquidations,
  },
  {
    name: LIQUIDATED,
    inputs: ['market.liquidations'],
    outputs: ['alerts.inputs'],
    state: 'state.liquidated',
    generation: 1,
    reason: 'first version',
    core: liquidated,
  },
  {
    name: AUDIT,
    inputs: ['derived.flow', 'market.candles'],
    outputs: ['derived.audit'],
    state: 'state.audit',
    paceMs: 1_000,
    retold: ({ type, value }) => (type === 'audit' ? value.minute : undefined),
    generation: 1,
    reason: 'first version',
    core: audit,
  },
  presentRow,
]

/** The rows of these names, all for none. Throws on a name that is not in the table. */
export function processorsNamed(names: readonly string[]): readonly ProcessorRow[] {
  if (names.length === 0) return topology
  return names.map((name) => {
    const row = topology.find((candidate) => candidate.name === name)
    if (row === undefined)
      throw new Error(`no processor ${name}; there are ${topology.map((known) => known.name).join(', ')}`)
    return row
  })
}
