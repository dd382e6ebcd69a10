import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { schemaText, UndecodableError } from '../../schemas/codec.ts'
import type { Subscription } from '../../schemas/records.ts'
import avro from 'avsc'
import { loadCodec, Registry, RegistryCodec } from './codec.ts'

const { registryUrl } = inject('parts')
const registry = new Registry(registryUrl)

interface Field {
  readonly name: string
  readonly type: unknown
  readonly default?: unknown
}

const base: Field[] = [
  { name: 'asset', type: 'string' },
  { name: 'size', type: 'double' },
]

function schema(subject: string, fields: readonly Field[]): { subject: string; text: string } {
  return { subject, text: JSON.stringify({ type: 'record', name: 'Thing', namespace: 'test', fields }) }
}

describe('the schema registry', () => {
  let subject: string
  beforeAll(async () => {
    subject = `test-${randomUUID()}`
    await registry.register(schema(subject, base))
  })

  it('gives the same ids however often the schemas are registered', async () => {
    const subscription: Subscription = { asset: 'btc', wanter: 'api', asked: 1, until: 2 }
    const [first, second] = await Promise.all([loadCodec(registryUrl), loadCodec(registryUrl)])
    const bytes = first.encode('control.subscriptions', 'subscription', subscription)
    expect(second.decode(bytes)).toEqual({ type: 'subscription', value: subscription })
    expect(second.encode('control.subscriptions', 'subscription', subscription)).toEqual(bytes)
  })

  it('checks every subject against all its versions', async () => {
    await loadCodec(registryUrl)
    const answer = await fetch(`${registryUrl}/config/market.trades-trade`)
    expect(await answer.json()).toEqual({ compatibilityLevel: 'BACKWARD_TRANSITIVE' })
  })

  it('refuses a new field without a default and names subject, field and way out', async () => {
    const refused = registry.register(schema(subject, [...base, { name: 'fee', type: 'double' }]))
    await expect(refused).rejects.toMatchObject({ code: 'incompatible' })
    await expect(refused).rejects.toThrow(
      `${subject}: the schema cannot read version 1: field fee is not in it; give the field a default`,
    )
  })

  it('refuses a field of another type and names it', async () => {
    const changed = [base[0], { name: 'size', type: 'string' }] as Field[]
    await expect(registry.register(schema(subject, changed))).rejects.toThrow(
      'field size is double there and string here',
    )
  })

  it('takes a compatible change, which older and newer readers can read', async () => {
    const newer = schema(subject, [...base, { name: 'fee', type: ['null', 'double'], default: null }])
    await registry.register(newer)
    const [old, now] = [
      avro.Type.forSchema(JSON.parse(schema(subject, base).text)),
      avro.Type.forSchema(JSON.parse(newer.text)),
    ]
    const oldBytes = old.toBuffer({ asset: 'btc', size: 1.5 })
    expect(now.fromBuffer(oldBytes, now.createResolver(old))).toEqual({ asset: 'btc', size: 1.5, fee: null })
    const newBytes = now.toBuffer({ asset: 'btc', size: 1.5, fee: 0.25 })
    expect(old.fromBuffer(newBytes, old.createResolver(now))).toEqual({ asset: 'btc', size: 1.5 })
  })

  it('makes a codec read what a newer release of ours wrote', async () => {
    const codec = await loadCodec(registryUrl)
    const ours = JSON.parse(schemaText('subscription')) as { fields: Field[] }
    const text = JSON.stringify({
      ...ours,
      fields: [...ours.fields, { name: `note_${randomUUID().slice(0, 8)}`, type: 'string', default: '' }],
    })
    const id = await registry.register({ subject: `test-${randomUUID()}`, text })
    const type = avro.Type.forSchema(JSON.parse(text))
    const value = { asset: 'btc', wanter: 'api', asked: 1, until: 2 }
    const header = Buffer.alloc(5)
    header.writeInt32BE(id, 1)
    const bytes = Buffer.concat([header, type.toBuffer(type.clone(value, { skipMissingFields: true }))])
    expect(() => codec.decode(bytes)).toThrow(UndecodableError)
    expect(await codec.lookUp(id)).toBe(true)
    expect(codec.decode(bytes)).toEqual({ type: 'subscription', value })
  })

  it('says that there is no such schema, and that a schema is none of ours', async () => {
    let now = 0
    const hurried = { now: () => now, delay: async (ms: number) => void (now += ms) }
    const codec = new RegistryCodec([], registry, { clock: hurried })
    expect(await codec.lookUp(999_999)).toBe(false)
    expect(await codec.lookUp(await registry.register(schema(subject, base)))).toBe(false)
  })

  it('says that it does not answer, with its address', async () => {
    const nobody = new Registry('http://127.0.0.1:1/apis', { loadMs: 200, lookUpMs: 200 })
    await expect(nobody.schemaOf(1)).rejects.toMatchObject({ code: 'unavailable' })
    await expect(nobody.register(schema(subject, base))).rejects.toThrow('http://127.0.0.1:1/apis')
  })
})
