import { readdirSync, readFileSync } from 'node:fs'

export interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly description: string
  readonly datasource: { readonly uid: string }
  /** The least width of an interval. */
  readonly interval?: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets: readonly {
    readonly rawSql: string
    readonly format: number
    readonly datasource: { uid: string }
  }[]
}

/** `query` of a variable of type `query` is SQL, else its values. */
interface Variable {
  readonly name: string
  readonly type: string
  readonly query: string
  readonly current: { readonly value: string }
}

export interface Dashboard {
  /** The file without its ending. */
  readonly file: string
  readonly uid: string
  readonly title: string
  readonly description: string
  readonly templating: { readonly list: readonly Variable[] }
  readonly panels: readonly Panel[]
}

const FOLDER = new URL('../dashboards/', import.meta.url)

/** All dashboards, as Grafana reads them. */
export function readDashboards(): Dashboard[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.json'))
  return files.toSorted().map((file) => ({
    ...(JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Omit<Dashboard, 'file'>),
    file: file.replace(/\.json$/, ''),
  }))
}

/** What a panel is looked at with: seconds since the Unix epoch, and its variables' values. */
export interface Look {
  readonly from: number
  readonly to: number
  readonly intervalSeconds: number
  readonly variables: Readonly<Record<string, string>>
}

/** A panel's SQL with its macros and variables filled in, as grafana-clickhouse-datasource documents them. */
export function fillIn(sql: string, { from, to, intervalSeconds, variables }: Look): string {
  const filled = sql
    .replaceAll(/\$__timeFilter\(([\w.]+)\)/g, `$1 >= toDateTime(${from}) AND $1 <= toDateTime(${to})`)
    .replaceAll(/\$__dateFilter\((\w+)\)/g, `$1 >= toDate('${day(from)}') AND $1 <= toDate('${day(to)}')`)
    .replaceAll(
      /\$__timeInterval\(([\w.]+)\)/g,
      `toStartOfInterval(toDateTime($1), INTERVAL ${intervalSeconds} second)`,
    )
    .replaceAll('$__fromTime', `toDateTime(${from})`)
    .replaceAll('$__toTime', `toDateTime(${to})`)
    .replaceAll('$__interval_s', String(intervalSeconds))
  return filled.replaceAll(/\$(\w+)/g, (whole, name: string) => variables[name] ?? whole)
}

function day(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10)
}
