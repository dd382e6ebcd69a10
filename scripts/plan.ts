import { readFileSync } from 'node:fs'
import { flag, readNumber, runCommand, text, UsageError, type Values } from './command/command.ts'
import { planOf, type Load, type Measured, type Plan, type Range } from './plan/plan.ts'

const usage = `npm run plan -- --symbols N --venues N --alerts N --requests N [flags]: machines, partitions, disk and money

  --symbols N    symbols that are streamed (default 100)
  --venues N     venues of each (default 4)
  --trades N     trades a second in all (default: one for each symbol and venue, which is a guess: measure yours)
  --alerts N     alerts that are watched (default 1000)
  --requests N   requests a second (default 100)
  --days N       how long the log and the tables keep (default 30)
  --cores N      cores of a machine (default 4), --gigabytes N its memory (16), --usd N its price a month (120)
  --disk-usd N   price of a gigabyte a month (0.10)
  --json         for programs

Each figure is followed by the range that holds 95 of 100 runs. Processor time, memory and bytes follow slopes by trades, markets
(symbols of venues), alerts and requests through measured runs of a whole system, scripts/plan/points.json, which
\`npm run bench -- capacity\` measures anew on your machine; one more run is compared with what they say of it.`

const flags = {
  symbols: text,
  venues: text,
  trades: text,
  alerts: text,
  requests: text,
  days: text,
  cores: text,
  gigabytes: text,
  usd: text,
  'disk-usd': text,
  json: flag,
} as const

/** Half a machine's cores and memory in the mean: a burst and a dead machine have room. */
const USED = 0.5

async function main(values: Values<typeof flags>): Promise<void> {
  const number = (name: Exclude<keyof typeof flags, 'json'>, otherwise: number): number => {
    const given = values[name]
    return given === undefined ? otherwise : readNumber(`--${name}`, given)
  }
  const positive = (name: 'cores' | 'gigabytes', otherwise: number): number => {
    const value = number(name, otherwise)
    if (value > 0) return value
    throw new UsageError(`--${name} must be above 0`)
  }
  const [symbols, venues] = [number('symbols', 100), number('venues', 4)]
  const load: Load = {
    trades: number('trades', symbols * venues),
    markets: symbols * venues,
    alerts: number('alerts', 1_000),
    requests: number('requests', 100),
  }
  const file = new URL('plan/points.json', import.meta.url)
  const measured = JSON.parse(readFileSync(file, 'utf8')) as Measured
  const plan = planOf(load, measured, {
    used: USED,
    days: number('days', 30),
    coresPerMachine: positive('cores', 4),
    bytesPerMachine: positive('gigabytes', 16) * 1e9,
    usdPerMachineMonth: number('usd', 120),
    usdPerGigabyteMonth: number('disk-usd', 0.1),
  })
  console.log(values.json === true ? JSON.stringify({ load, ...plan }) : planText(load, plan))
}

function planText({ trades, markets, alerts, requests }: Load, plan: Plan): string {
  const { slopes, beyond, heldOut } = plan
  const { load: held } = heldOut
  const ratio = heldOut.said.value / heldOut.measured
  return [
    `load               ${whole(trades)} trades/s, ${whole(markets)} markets, ${whole(alerts)} alerts, ${whole(requests)} requests/s`,
    `beyond measured    ${Object.entries(beyond)
      .map(([of, times]) => `${of} ${times.toFixed(2)}`)
      .join(', ')} times the largest; up to 1: within`,
    ...plan.parts.map(({ part, ...cores }) => `cores, ${part.padEnd(11)} ${rangeText(cores, 2)}`),
    `cores, all         ${rangeText(plan.cores, 2)}`,
    `of a core          ${slopes.base.toFixed(2)} for nothing; ${micro(slopes.batches)} us a batch of trades, ${micro(slopes.trades)} us a trade in it, ${micro(slopes.requests)} us a request; ${micro(slopes.markets)} us a second for a market, ${micro(slopes.alerts)} us for an alert`,
    `held out           ${rangeText(heldOut.said, 2)} cores said, ${heldOut.measured.toFixed(2)} measured (ratio ${ratio.toFixed(2)}) of ${held.trades} trades/s, ${held.markets} markets, ${held.alerts} alerts, ${held.requests} requests/s`,
    `machines           ${rangeText(plan.machines, 0)}, used by half in the mean`,
    `partitions         ${plan.partitions}: fixed when the log is made`,
    `memory, GB         ${rangeText(plan.memoryBytes, 1, 1e9)} in all`,
    `disk, GB           ${rangeText(plan.diskBytes, 0, 1e9)} in all: the log three times, the tables twice`,
    `USD a month        ${rangeText(plan.usdPerMonth, 0)}`,
  ].join('\n')
}

function rangeText({ value, least, most }: Range, digits: number, unit = 1): string {
  const text = (number: number): string => whole(number / unit, digits)
  return `${text(value)} (${text(least)} to ${text(most)})`
}

function whole(value: number, digits = 0): string {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

function micro(cores: number): string {
  return String(Number((cores * 1e6).toPrecision(3)))
}

await runCommand({ usage, flags, expected: [] }, main)
