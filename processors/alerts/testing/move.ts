import { isFigure, readRule, WAITING, writeRule, type AlertKind, type Cause } from '../kinds/kind.ts'
import { priceSources } from '../kinds/price.ts'

/** A price that is so many percent away from where it was a day ago: the kind that `alert-kind.md` adds, for its test alone. */
export interface MoveTerms {
  readonly kind: 'move'
  readonly percent: number
}

interface MoveCause extends Cause {
  readonly change: number
}

const away = ({ change_24h: change }: { readonly change_24h: number | null }): number => Math.abs(change ?? NaN)

export const move: AlertKind<MoveTerms, 'composite_price', MoveCause> = {
  kind: 'move',
  input: 'composite_price',
  needsSubscription: () => false,

  read(_, rule) {
    const percent = rule?.['percent']
    return isFigure(percent) ? { kind: 'move', percent } : undefined
  },
  write: writeRule,
  ringsOnce: () => false,

  levels: {
    far: { passes: '>=', figure: away },
    near: { passes: '<', figure: away },
  },
  wait: ({ status }) => (status === 'active' ? 'far' : 'near'),
  at: ({ percent }) => percent,
  evaluate({ status }, { price, change_24h: change, sources, quality, late, time }) {
    if (change === null || late) return WAITING // candles of a silence say nothing of a day
    if (status !== 'active') return { is: 'back' }
    const cause = { price, change, key: 'move', sources: priceSources(sources), quality, late, time }
    return { is: 'met', cause, isBack: false }
  },

  describe: ({ percent }) => `moving ${percent} % in 24 hours`,
  describeCause: ({ percent }, symbol, { change }) => `${symbol} moved ${change} % in 24 hours, ${percent} % or more`,
  evidence: (terms, cause) => {
    const condition = JSON.stringify({ ...terms, change_pct: cause?.change ?? null })
    return { severity: 'medium', oi_at_risk_usd: null, oi_at_risk_pct: null, cascade_risk: null, condition }
  },

  event: 'move_alert',
  payload: (trigger) => {
    const { percent, change_pct } = readRule(trigger) ?? {}
    return { percent, change_pct, condition_met: trigger.condition_met }
  },
  sourceFigure: 'price',
}
