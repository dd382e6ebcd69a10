import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { partitionOf } from '../../schemas/catalogue.ts'
import { readAlerts } from './alerts-file.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'alerts-'))
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

const HOUR = 3_600_000

function read(content: string) {
  const file = path.join(folder, 'alerts.json')
  writeFileSync(file, content)
  return readAlerts(file, { from: 0, to: 48 * HOUR, partitions: 12 })
}

describe('a file of alerts', () => {
  it('has bodies as the API takes them, webhook or not, and each lives to the end of the range', () => {
    const [price, risk] = read(
      JSON.stringify([
        { symbol: 'ETH', condition: 'above', target_price: 3_000 },
        { symbol: 'BTC', kind: 'liquidation', threshold_pct: 4, expires_in_hours: 2 },
      ]),
    )
    expect(price).toMatchObject({
      partition: partitionOf('eth', 12),
      message: { value: { action: 'create', asset: 'eth', alert: { target_price: 3_000, expires_in_hours: 48 } } },
    })
    expect(risk?.message.value.alert).toMatchObject({
      kind: 'liquidation',
      condition: 'cascade_risk',
      threshold_pct: 4,
      expires_in_hours: 2,
      webhook: '',
    })
  })

  it.each([
    ['{}', /must hold a list of 1 to/],
    ['[', /is no JSON/],
    ['[1]', /alert 1: an alert is an object/],
    ['[{"symbol":"BTC","condition":"near","target_price":1}]', /alert 1: condition must be one of above/],
    ['[{"symbol":"BTC","condition":"above"}]', /alert 1: target_price must be a number/],
  ])('that cannot be followed is refused: %s', (content, message) => {
    expect(() => read(content)).toThrow(message)
  })

  it('that is not there is refused by its name', () => {
    expect(() => readAlerts('nowhere.json', { from: 0, to: 1, partitions: 12 })).toThrow(/nowhere\.json cannot be read/)
  })
})
