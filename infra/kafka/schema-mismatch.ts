import avro from 'avsc'

/**
 * Why records written by `writer` cannot be read by `reader` (both .avsc texts of records): the field and how to mend
 * it, in words. Undefined: they can be read.
 */
export function mismatch(reader: string, writer: string): string | undefined {
  const ours = avro.Type.forSchema(JSON.parse(reader) as avro.Schema)
  const theirs = avro.Type.forSchema(JSON.parse(writer) as avro.Schema)
  const problem = resolveProblem(ours, theirs)
  if (problem === undefined || !avro.Type.isType(ours, 'record') || !avro.Type.isType(theirs, 'record')) return problem
  return fieldProblem(ours as avro.types.RecordType, theirs as avro.types.RecordType) ?? problem
}

function fieldProblem(ours: avro.types.RecordType, theirs: avro.types.RecordType): string | undefined {
  for (const field of ours.fields) {
    const names = new Set([field.name, ...field.aliases])
    const old = theirs.fields.find(({ name }) => names.has(name))
    if (old === undefined) {
      // a field without a default has undefined there
      if (field.defaultValue() !== undefined) continue
      return `field ${field.name} is not in it; give the field a default, for example null`
    }
    if (resolveProblem(field.type, old.type) === undefined) continue
    const types = `${nameOf(old.type)} there and ${nameOf(field.type)} here`
    return `field ${field.name} is ${types}; keep its type, or add a field of another name with a default`
  }
  return undefined
}

function resolveProblem(ours: avro.Type, theirs: avro.Type): string | undefined {
  try {
    ours.createResolver(theirs)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function nameOf(type: avro.Type): string {
  return type.name ?? type.typeName.replace(/^union:.*/, 'a union')
}
