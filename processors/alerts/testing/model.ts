import { recordId } from '../../../schemas/record-id.ts'
import type { Command, CompositePrice, LiquidationRisk, Message, Metric, NewAlert } from '../../../schemas/records.ts'
import { figuresOf, FiguresModel, holdsFor, isModelEdge, type ModelRule } from './figures-model.ts'

/**
 * The rules of alerts once more, plain and slow, to hold the core and running systems against: every record looks at every
 * alert of the list, there is no book, no timer, no snapshot. It shares no code with the core. One for each partition.
 */
const S = 1_000_000
/** Those that logs tell of. */
const ASSETS = ['btc', 'eth']
const HOUR = 3_600 * S
const DAY = 24 * HOUR
/** As late as the log can say: no end. */
const END = 2 ** 53 - 2

interface Item extends NewAlert {
  readonly id: string
  readonly asset: string
  status: 'active' | 'triggered' | 'expired' | 'cancelled'
  readonly created: number
  expires: number
  ended: number
  count: number
  rang: number
  /** Crossings: seen on or before the target. Levels that rang: seen back. */
  ready: boolean
  /** Changed within its cooldown: behind that nothing was seen yet. */
  anew: boolean
  since: number
  /** Of a rule: what it waits for, and since when it has held, 0: it does not. */
  rule: ModelRule | undefined
  held: number
  /** It rests until then; 0: it does not. */
  paused: number
  /** Of what a rule for all is for one symbol: that rule. It lives as that does, and only its rings are told. */
  readonly of?: Item
  /** There was a record of the symbol since. */
  isOpen?: boolean
}

/** A trigger as the rules demand it. */
export interface Demanded {
  readonly triggerId: string
  readonly alertId: string
  readonly count: number
  /** Id of the record that causes it. */
  readonly record: string
}

/** What one record of the log demands. */
export interface Step {
  /** The events, sorted. */
  readonly events: readonly string[]
  readonly triggers: readonly Demanded[]
}

export class Model {
  readonly #partition: number
  items: Item[] = []
  #now = 0
  readonly #requests = new Map<string, number>()
  /** What was bought, and when. */
  readonly #payments = new Map<string, readonly [id: string, at: number]>()
  /** Time of the newest risk, by asset. */
  readonly #risks = new Map<string, number>()
  readonly #created = new Set<string>()
  /** Assets of which there was a figure. */
  readonly #told = new Set<string>()
  readonly #figures = new FiguresModel()
  /** Up to when figures of trades were told; Infinity: nobody has said so. */
  #toldTo = Infinity
  #events: string[] = []
  #rung: (readonly [item: Item, over: string])[] = []

  constructor(partition: number) {
    this.#partition = partition
  }

  /** Whether the alert was ever created. */
  knows(id: string): boolean {
    return this.#created.has(id)
  }

  apply({ type, value }: Message, offset: number): Step {
    this.#events = []
    this.#rung = []
    if (type === 'command') this.#command(value)
    this.#watch()
    if (type === 'mark' && value.writer === 'cvd')
      this.#toldTo = this.#toldTo === Infinity ? value.time : Math.max(this.#toldTo, value.time)
    if (type === 'mark') this.#mark(value.time)
    if (type === 'composite_price') this.#price(value)
    if (type === 'liquidation_risk') this.#risk(value)
    if (type === 'metric') this.#metric(value)
    const triggers = this.#rung.map(([{ id, count }, over]) => {
      const record = recordId({ topic: 'alerts.inputs', partition: this.#partition, offset })
      return { triggerId: `${id}_${count}${over}`, alertId: id, count, record }
    })
    return { events: this.#events.sort(), triggers }
  }

  #event(event: string, item: Item | undefined, more: string | null = null): void {
    if (item?.of !== undefined && event !== 'triggered' && event !== 'rearmed') return
    const { id, status, count, expires } = item ?? { id: '', status: '', count: '', expires: '' }
    this.#events.push([event, id, status, count, expires, more].join(' '))
  }

  #command(c: Command): void {
    const now = this.#now === 0 ? c.created : this.#now
    const before = this.#requests.get(c.request_id)
    if (before !== undefined && this.#now < before + HOUR) return
    this.#requests.set(c.request_id, now)
    const [bought, at] = this.#payments.get(c.payment ?? '') ?? []
    if (at !== undefined && this.#now < at + 2 * DAY) {
      const item = this.items.find(({ id }) => id === bought)
      this.#event(item === undefined ? 'rejected' : 'repeated', item, item === undefined ? 'alert_not_found' : null)
      return
    }
    if (c.action === 'create' && c.alert !== null) {
      this.#create(c, c.alert, now)
      return
    }
    const item = this.items.find(({ id }) => id === c.alert_id)
    if (item === undefined) this.#event('rejected', undefined, 'alert_not_found')
    else this.#order(item, c, now)
  }

  #order(item: Item, c: Command, now: number): void {
    const hadEnded = item.ended > 0
    const told = this.#events.length
    this.#act(item, c, now)
    if (this.#events[told]?.startsWith('rejected') === true || !item.asset.startsWith('*')) return
    for (const one of this.items) {
      if (one.of !== item) continue
      if (hadEnded && item.ended === 0) one.isOpen = this.#isTold(one.asset)
      this.#act(one, { ...c, payment: c.payment ?? 'its rule' }, now)
    }
  }

  #act(item: Item, c: Command, now: number): void {
    if (c.action === 'extend') this.#extend(item, c, now)
    else if (c.action === 'cancel') this.#cancel(item, now)
    else if (c.action === 'pause') this.#pause(item, c.until ?? Infinity, now)
    else if (c.action === 'resume') this.#resume(item, now)
    else if (c.action === 'edit') this.#edit(item, c.alert, now)
    else if (item.status === 'cancelled') this.#event('rejected', item, 'alert_not_active')
    else if (c.action === 'test') this.#event('tested', item)
  }

  #create(c: Command, asked: NewAlert, now: number): void {
    const sameKey = (item: Item): boolean => item.idempotency === asked.idempotency && this.#now < item.created + DAY
    const known =
      this.items.find((item) => asked.idempotency !== null && sameKey(item)) ??
      this.items.find(({ id }) => id === c.alert_id)
    if (known !== undefined) {
      if (known.body_hash === asked.body_hash) this.#event('repeated', known)
      else this.#event('rejected', known, 'idempotency_conflict')
      return
    }
    const born = bornAt(c, now)
    const item: Item = {
      ...asked,
      id: c.alert_id,
      asset: c.asset,
      status: 'active',
      created: born,
      expires: asked.expires_in_hours === 0 ? END : born + asked.expires_in_hours * HOUR,
      ended: 0,
      count: 0,
      rang: 0,
      ready: false,
      anew: false,
      since: now,
      rule: asked.kind === 'rule' ? (JSON.parse(asked.condition) as ModelRule) : undefined,
      held: 0,
      paused: 0,
    }
    const isForAll = c.asset.startsWith('*')
    this.items.push(isForAll ? { ...item, rule: undefined } : item)
    const whole = this.items.at(-1) ?? item
    if (isForAll)
      for (const asset of ASSETS) {
        const isOpen = this.#isTold(asset)
        this.items.push({ ...item, id: `${item.id}.${asset}`, asset, idempotency: null, of: whole, isOpen })
      }
    this.#created.add(item.id)
    this.#pay(c, now)
    this.#event('created', item)
  }

  #pay({ payment, alert_id: id }: Command, now: number): void {
    if (payment !== null) this.#payments.set(payment, [id, now])
  }

  #extend(item: Item, command: Command, now: number): void {
    const { add_hours, payment } = command
    const hours = add_hours ?? 0
    if (item.status === 'cancelled' || (payment === null && item.status !== 'active')) {
      this.#event('rejected', item, 'alert_not_active')
      return
    }
    if (item.expires === END) {
      this.#event('rejected', item, 'invalid_add_hours')
      return
    }
    const asked = bornAt(command, now)
    const end = Math.max(item.expires, asked) + hours * HOUR
    if (payment === null && end > asked + 30 * DAY) {
      this.#event('rejected', item, 'invalid_add_hours')
      return
    }
    item.expires = Math.min(end, Math.max(item.expires, asked + 30 * DAY))
    if (item.status === 'expired') Object.assign(item, { status: 'active', ready: false, since: now, held: 0 })
    if (!(item.status === 'triggered' && isOnce(item))) item.ended = 0
    this.#pay(command, now)
    this.#event('extended', item)
  }

  #cancel(item: Item, now: number): void {
    if (item.status === 'active' || item.status === 'triggered') {
      Object.assign(item, { status: 'cancelled', ended: now, paused: 0 })
      this.#event('cancelled', item)
    } else this.#event('rejected', item, 'alert_not_active')
  }

  /** Other terms of a rule: it waits anew, and keeps what is left of its cooldown; what it rang is over. */
  #edit(item: Item, asked: NewAlert | null, now: number): void {
    if (item.rule === undefined || asked?.kind !== 'rule') {
      this.#event('rejected', item, 'invalid_body')
      return
    }
    if (item.ended > 0) {
      this.#event('rejected', item, 'alert_not_active')
      return
    }
    const cools = item.rang > 0 && now < item.rang + 60 * S
    if (item.status === 'triggered' && !item.ready && item.rule.resolved === true) this.#rung.push([item, '_over'])
    const rule = JSON.parse(asked.condition) as ModelRule
    Object.assign(item, {
      rule,
      status: cools ? 'triggered' : 'active',
      ready: cools,
      anew: cools,
      held: 0,
      since: now,
    })
    this.#event('edited', item)
  }

  #pause(item: Item, until: number, now: number): void {
    if (item.ended > 0) this.#event('rejected', item, 'alert_not_active')
    else if (until <= now) this.#event('rejected', item, 'invalid_until')
    else {
      Object.assign(item, { paused: until, held: 0 })
      this.#event('paused', item)
    }
  }

  #resume(item: Item, now: number): void {
    if (item.ended > 0) {
      this.#event('rejected', item, 'alert_not_active')
      return
    }
    if (item.paused > 0) this.#wake(item, now)
    this.#event('resumed', item)
  }

  /** What rang goes on until it has been back; what waits begins anew. */
  #wake(item: Item, now: number): void {
    Object.assign(item, { paused: 0, held: 0, since: now })
    if (item.status === 'active') item.ready = false
    else if (item.ready && now >= item.rang + 60 * S)
      Object.assign(item, { status: 'active', ready: isPrimed(item), anew: false })
  }

  /** Time passes from one moment at which something is due to the next. */
  #mark(time: number): void {
    if (time <= this.#now) return
    const before = this.#now
    this.#now = time
    if (Math.floor(before / (10 * S)) !== Math.floor(time / (10 * S)))
      for (const asset of new Set(this.items.map((item) => item.asset)))
        this.#lookAtRules(asset, time, this.#figures.pass(asset, time, this.#toldTo))
    for (const item of this.items) {
      if (item.paused > 0 && item.paused <= time && item.paused < item.expires) {
        this.#wake(item, item.paused)
        this.#event('resumed', item)
      }
      this.#hold(item, time)
      const isBack = item.status === 'triggered' && item.ready && item.ended === 0 && item.paused === 0
      const cools = isBack ? item.rang + 60 * S : Infinity
      if (cools < item.expires && cools <= time) this.#activate(item, cools)
      if (item.ended === 0 && item.expires <= time) {
        Object.assign(item, { ended: item.expires, paused: 0 })
        if (item.status === 'active') {
          item.status = 'expired'
          this.#event('expired', item)
        }
      }
    }
    this.items = this.items.filter(
      ({ of, ended }) => (of?.ended ?? ended) === 0 || time < (of?.ended ?? ended) + 7 * DAY,
    )
    this.#watch()
  }

  #activate(item: Item, since: number): void {
    Object.assign(item, { status: 'active', ready: isPrimed(item), anew: false, since })
    this.#event('rearmed', item)
  }

  #ring(item: Item, time: number, isBack: boolean): void {
    const crosses = isOnce(item)
    item.held = 0
    item.count += 1
    item.rang = Math.max(time, this.#now)
    Object.assign(item, { status: 'triggered', since: time, ready: !crosses && isBack, ended: crosses ? item.rang : 0 })
    this.#rung.push([item, ''])
    this.#event('triggered', item, `${item.id}_${item.count}`)
  }

  #back(item: Item, time: number): void {
    if (this.#now >= item.rang + 60 * S) this.#activate(item, Math.max(time, item.rang + 60 * S))
    else Object.assign(item, { ready: true, since: time })
  }

  #live(asset: string, time: number): Item[] {
    return this.items.filter((item) => {
      return item.asset === asset && item.ended === 0 && item.paused === 0 && time >= item.since && time < item.expires
    })
  }

  #price(price: CompositePrice): void {
    const { asset, time, late } = price
    const from = late ? price.bounds_from : time - 11 * S
    if (!late) this.#open(asset)
    if (!late) this.#tell(asset, 'price', time, figuresOfPrice(price))
    for (const item of this.#live(asset, time)) {
      if (item.kind !== 'price') continue
      const isWhole = from >= item.since && from >= item.created
      if (late && !isWhole) continue
      this.#look(item, price, isWhole)
    }
  }

  #look(item: Item, { price, low, high, time, late }: CompositePrice, isWhole: boolean): void {
    const rises = item.condition.endsWith('above')
    const target = item.target_price ?? NaN
    const isBeyond = (usd: number): boolean => (rises ? usd > target : usd < target)
    const extremes = isWhole ? [low, high, ...(late ? [] : [price])] : [price]
    const isReached = extremes.some(isBeyond)
    const isBack = !extremes.every(isBeyond)
    const endsBeyond = !late && isBeyond(price)
    const endsBack = !late && !isBeyond(price)
    if (item.condition.startsWith('crosses')) {
      if (item.ready ? isReached : isBack && endsBeyond) this.#ring(item, time, false)
      else if (!item.ready && isBack) Object.assign(item, { ready: true, since: time })
    } else if (item.status === 'active') {
      if (isReached) this.#ring(item, time, endsBack)
    } else if (!item.ready && isBack) this.#back(item, time)
  }

  #metric({ asset, core, figures, time }: Metric): void {
    const teller = `${asset}|${core}`
    if (time <= (this.#risks.get(teller) ?? -Infinity)) return
    this.#risks.set(teller, time)
    this.#open(asset)
    const told = new Map(
      figures.map(({ figure, exchange, value }) => [exchange === null ? figure : `${figure}@${exchange}`, value]),
    )
    this.#tell(asset, core, time, told)
  }

  #tell(asset: string, input: string, time: number, told: ReadonlyMap<string, number>): void {
    this.#lookAtRules(asset, time, this.#figures.tell(asset, input, time, told))
  }

  /** The rules that have not ended say what is looked at. */
  #watch(): void {
    for (const [asset, items] of Map.groupBy(this.items, (item) => item.asset)) {
      const rules = items.flatMap(({ ended, rule, of, isOpen }) =>
        (of?.ended ?? ended) === 0 && isOpen !== false && rule ? [rule] : [],
      )
      this.#figures.keep(asset, rules, this.#now)
    }
  }

  /** Whether rules for all begin with it: it is looked at, or something was told of it. */
  #isTold(asset: string): boolean {
    return this.#figures.has(asset) || this.#told.has(asset)
  }

  /** What rules for all look at begins with the first record of a symbol that nothing was told of. */
  #open(asset: string): void {
    this.#told.add(asset)
    for (const item of this.items)
      if (item.of !== undefined && item.asset === asset && item.of.ended === 0) item.isOpen = true
    this.#watch()
  }

  #lookAtRules(asset: string, time: number, changed: ReadonlySet<string>): void {
    for (const item of this.#live(asset, time)) {
      if (item.rule === undefined || !figuresOf(item.rule).some((name) => changed.has(name))) continue
      this.#rule(item, item.rule, time)
    }
    this.#watch()
  }

  #rule(item: Item, rule: ModelRule, time: number): void {
    const isMet = this.#figures.isMet(item.asset, rule.when, time, item.status === 'triggered')
    if (item.status === 'triggered') {
      if (item.ready || isMet !== false) return
      if (rule.resolved === true) this.#rung.push([item, '_over'])
      this.#back(item, time)
    } else if (isModelEdge(rule) && !item.ready) {
      if (isMet === false) Object.assign(item, { ready: true, since: time })
    } else if (item.held > 0) {
      if (isMet === false) item.held = 0
    } else if (isMet === true && holdsFor(rule) > 0) item.held = time
    else if (isMet === true) this.#ring(item, time, false)
  }

  /** What has to hold has held. */
  #hold(item: Item, now: number): void {
    const { rule, held } = item
    if (rule === undefined || held === 0 || item.ended > 0) return
    const due = held + holdsFor(rule)
    if (due > now || due >= item.expires) return
    if (this.#figures.isMet(item.asset, rule.when, due, false) === true) this.#ring(item, due, false)
    else item.held = 0
  }

  #risk(risk: LiquidationRisk): void {
    const { asset, time, at_risk_5_pct: pct, at_risk_5_usd: usd } = risk
    if (time <= (this.#risks.get(asset) ?? -Infinity)) return
    this.#risks.set(asset, time)
    this.#open(asset)
    for (const item of this.#live(asset, time)) {
      if (item.kind !== 'liquidation') continue
      const isAtRisk = pct > (item.threshold_pct ?? NaN) && usd >= (item.min_value_usd ?? NaN)
      if (item.status === 'active' && isAtRisk) this.#ring(item, time, false)
      else if (item.status === 'triggered' && !item.ready && !isAtRisk) this.#back(item, time)
    }
  }
}

function figuresOfPrice({ price, sources }: CompositePrice): Map<string, number> {
  return new Map([['price', price], ...sources.map((source) => [`price@${source.exchange}`, source.price] as const)])
}

/** By its caller's clock where no mark has come for more than two seconds. */
function bornAt({ created }: Command, now: number): number {
  return created > now + 2 * S ? Math.min(created, now + 30 * DAY) : now
}

/** A crossing that has rung and been back by the terms that it has. */
function isPrimed({ rule, anew }: Item): boolean {
  return rule !== undefined && isModelEdge(rule) && !anew
}

/** It rings once. */
function isOnce({ condition, rule }: Item): boolean {
  return rule === undefined ? condition.startsWith('crosses') : rule.repeat === false
}
