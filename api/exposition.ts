/** Prometheus text of one service. */
export interface Exposition {
  readonly service: string
  readonly text: string
}

interface Family {
  /** `# HELP` and `# TYPE` lines of the service that named it first. */
  readonly head: string[]
  readonly samples: string[]
}

/**
 * Puts the metrics of several services into one text: each sample gets the label `service`, and what has one name stands
 * together under one HELP and TYPE, as the format demands.
 */
export function mergeExpositions(expositions: readonly Exposition[]): string {
  const families = new Map<string, Family>()
  for (const exposition of expositions) collect(families, exposition)
  const lines = [...families.values()].flatMap(({ head, samples }) => [...head, ...samples])
  return `${lines.join('\n')}\n`
}

function collect(families: Map<string, Family>, { service, text }: Exposition): void {
  let current: Family | undefined
  const ours = new Set<string>()
  for (const line of text.split('\n')) {
    const name = /^# (?:HELP|TYPE) (\S+)/.exec(line)?.[1]
    if (name !== undefined) {
      if (!families.has(name)) ours.add(name)
      current = familyOf(families, name)
      if (ours.has(name)) current.head.push(line)
    } else if (line !== '' && !line.startsWith('#')) {
      // A sample without a head before it is a family of its own.
      current ??= familyOf(families, sampleName(line))
      current.samples.push(labelled(line, service))
    }
  }
}

function familyOf(families: Map<string, Family>, name: string): Family {
  const family = families.get(name) ?? { head: [], samples: [] }
  families.set(name, family)
  return family
}

function sampleName(line: string): string {
  return line.split(/[{\s]/, 1)[0] ?? line
}

function labelled(line: string, service: string): string {
  const name = sampleName(line)
  const rest = line.slice(name.length)
  if (!rest.startsWith('{')) return `${name}{service="${service}"}${rest}`
  const labels = rest.slice(1)
  return `${name}{service="${service}"${labels.startsWith('}') ? '' : ','}${labels}`
}
