import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { fillIn, readDashboards, type Panel } from './testing/dashboards.ts'

const dashboards = readDashboards()
const read = (file: string): string => readFileSync(new URL(file, import.meta.url), 'utf8')

it('there are those for the market, alerts, the system’s health and payments', () => {
  expect(dashboards.map(({ file }) => file)).toEqual(['alerts', 'health', 'market', 'payments'])
})

const overlap = ({ gridPos: a }: Panel, { gridPos: b }: Panel): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h

describe.each(dashboards.map((dashboard) => [dashboard.file, dashboard] as const))('%s', (file, dashboard) => {
  const { panels, templating } = dashboard

  it('is named after its file and says what it and each panel show', () => {
    expect(dashboard.uid).toBe(file)
    for (const said of [dashboard.title, dashboard.description]) expect(said).not.toBe('')
    for (const panel of panels) expect([panel.title, panel.description].filter((text) => text === '')).toEqual([])
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length)
  })

  it('puts no panel over another, and none beside the page', () => {
    const pairs = panels.flatMap((one, at) => panels.slice(at + 1).map((other) => [one, other] as const))
    expect(pairs.filter(([one, other]) => overlap(one, other)).map(([one]) => one.title)).toEqual([])
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([])
  })

  it('asks the data source that is provisioned, one query a panel', () => {
    const provisioned = parse(read('provisioning/datasources/clickhouse.yaml')) as { datasources: { uid: string }[] }
    const known = provisioned.datasources.map(({ uid }) => uid)
    for (const panel of panels) {
      expect(known).toContain(panel.datasource.uid)
      expect(panel.targets.map(({ datasource }) => known.includes(datasource.uid))).toEqual([true])
    }
  })

  it('uses only macros and variables that there are', () => {
    const variables = Object.fromEntries(templating.list.map(({ name, current }) => [name, current.value]))
    const look = { from: 0, to: 1, intervalSeconds: 10, variables }
    for (const panel of panels) for (const { rawSql } of panel.targets) expect(fillIn(rawSql, look)).not.toContain('$')
  })
})

it('reads as the user analyst, with less time than that user has', () => {
  const { datasources } = parse(read('provisioning/datasources/clickhouse.yaml')) as {
    datasources: { jsonData: { username: string; defaultDatabase: string; queryTimeout: string } }[]
  }
  expect(datasources.map(({ jsonData }) => jsonData)).toMatchObject([
    { username: 'analyst', defaultDatabase: 'market' },
  ])
  const allowed = /<max_execution_time>(\d+)</.exec(read('../docker/clickhouse/analyst.xml'))?.[1]
  // The client asks for 5 s more than it waits itself.
  expect(Number(datasources[0]?.jsonData.queryTimeout) + 5).toBeLessThan(Number(allowed))
})
