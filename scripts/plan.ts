import { readFileSync } from 'node:fs'
import { runCommand, flag, text, UsageError, type Values } from './command/command.ts'
import { planOf, type MeasuredPoint, type Plan } from './plan/plan.ts'

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

Processor time follows lines through measured points, scripts/plan/points.json, which \`npm run bench -- capacity\` measures
anew on your machine; up to: off as far as at the line's worst point, or at the largest point where it is not fitted.`

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

/** Processor time of an answer, 98 us, and memory of a rule, 966 bytes, by the benches api and alerts; a trade by ClickHouse's README. */
const measured = { coresPerRequest: 98e-6, bytesPerAlert: 966, bytesPerTrade: 7.1, used: 0.5 } as const

async function main(values: Values<typeof flags>): Promise<void> {
  const number = (name: Exclude<keyof typeof flags, 'json'>, otherwise: number): number => {
    const given = values[name] === undefined ? otherwise : Number(values[name])
    if (!Number.isFinite(given) || given < 0) throw new UsageError(`--${name} must be a number, 0 or more`)
    return given
  }
  const [symbols, venues] = [number('symbols', 100), number('venues', 4)]
  const load = {
    symbols,
    venues,
    alerts: number('alerts', 1_000),
    requests: number('requests', 100),
    trades: number('trades', symbols * venues),
    days: number('days', 30),
  }
  const file = new URL('plan/points.json', import.meta.url)
  const points = JSON.parse(readFileSync(file, 'utf8')) as readonly MeasuredPoint[]
  const plan = planOf(load, points, {
    ...measured,
    coresPerMachine: number('cores', 4),
    bytesPerMachine: number('gigabytes', 16) * 1e9,
    usdPerMachineMonth: number('usd', 120),
    usdPerGigabyteMonth: number('disk-usd', 0.1),
  })
  console.log(values.json === true ? JSON.stringify({ load, ...plan }) : planText(load.trades, plan))
}

function planText(trades: number, plan: Plan): string {
  const upTo = (value: number, most: number): string => (value === most ? `${value}` : `${value}, up to ${most}`)
  const fixed = (value: number): string => value.toFixed(2)
  return [
    `trades a second    ${Math.round(trades)}, ${fixed(plan.beyond)} times the largest rate that was measured`,
    ...plan.parts.map(
      ({ part, cores, coresMost }) => `cores, ${part.padEnd(11)} ${upTo(+fixed(cores), +fixed(coresMost))}`,
    ),
    `cores, all         ${upTo(+fixed(plan.cores), +fixed(plan.coresMost))}`,
    `held out           ${fixed(plan.heldOut.said)} cores said of ${Math.round(plan.heldOut.tradesPerSecond)} trades/s by the other points, ${fixed(plan.heldOut.measured)} measured`,
    `machines           ${upTo(plan.machines, plan.machinesMost)}, used by half in the mean`,
    `partitions         ${plan.partitions}: fixed when the log is made`,
    `memory             ${(plan.memoryBytes / 1e9).toFixed(1)} GB in all`,
    `disk               ${Math.ceil(plan.diskBytes / 1e9)} GB in all: the log three times, the tables twice`,
    `USD a month        ${upTo(Math.round(plan.usdPerMonth), Math.round(plan.usdPerMonthMost))}`,
  ].join('\n')
}

await runCommand({ usage, flags, expected: [] }, main)
