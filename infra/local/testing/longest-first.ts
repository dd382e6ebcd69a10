import path from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take half a minute and more on two cores, the longest first: kills, and what brokers forget. */
const LONG = [
  'processors/payments/payments-crash.real.test.ts',
  'infra/clickhouse/cut-log.real.test.ts',
  'api/payments/attacks.real.test.ts',
  'api/payments/facilitator.real.test.ts',
  'processors/feeds/feeds.real.test.ts',
  'infra/kafka/outage.real.test.ts',
  'processors/webhooks/webhooks.real.test.ts',
  'processors/feeds/sources.real.test.ts',
  'infra/kafka/kafkajs.real.test.ts',
  'infra/local/stores.real.test.ts',
  'infra/local/clickhouse/reader.real.test.ts',
  'scripts/release.real.test.ts',
]

/** Begins with them also where no run has left its times, as in a fresh clone, so that none is alone at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => group(a) - group(b) || rankOf(a) - rankOf(b))
  }
}

const group = ({ project }: TestSpecification): number => project.config.sequence.groupOrder

function rankOf({ moduleId, project }: TestSpecification): number {
  const found = LONG.indexOf(path.relative(project.config.root, moduleId))
  return found === -1 ? LONG.length : found
}
