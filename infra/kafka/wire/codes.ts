/** What an error code of the Kafka protocol means for the one who asked. */
export type Verdict =
  | 'ok'
  /** Ask again, after a look at the metadata where `stale`. */
  | 'retry'
  | 'stale'
  | 'no-topic'
  | 'fenced'
  /** The broker does not know, or not follow, the sequence of this producer. */
  | 'lost-sequence'
  | 'out-of-range'
  | 'refused'

/** Source: the table of error codes in Kafka's protocol guide; only those that our requests can get. */
const verdicts: ReadonlyMap<number, Verdict> = new Map([
  [0, 'ok'],
  [1, 'out-of-range'],
  [3, 'no-topic'],
  [5, 'stale'], // leader not available
  [6, 'stale'], // not leader or follower
  [7, 'retry'], // request timed out at the broker
  [8, 'stale'], // broker not available
  [9, 'stale'], // replica not available
  [13, 'retry'], // network exception
  [14, 'retry'], // coordinator loads
  [15, 'retry'], // coordinator not available
  [16, 'retry'], // not coordinator
  [19, 'retry'], // not enough replicas
  [20, 'retry'], // not enough replicas after append
  [45, 'lost-sequence'],
  [46, 'ok'], // duplicate sequence: the retried batch is in the log already
  [47, 'fenced'], // invalid producer epoch
  [49, 'fenced'], // the producer id is not its owner's any more
  [51, 'retry'], // concurrent transactions: the markers of the one before are being written
  [56, 'stale'], // storage error
  [59, 'lost-sequence'], // unknown producer id
  [74, 'stale'], // fenced leader epoch
  [75, 'stale'], // unknown leader epoch
  [78, 'stale'], // offset not available
  [90, 'fenced'], // producer fenced
])

const names: ReadonlyMap<number, string> = new Map([
  [2, 'corrupt message'],
  [10, 'message too large'],
  [17, 'invalid topic'],
  [29, 'not authorized for the topic'],
  [31, 'not authorized for the cluster'],
  [32, 'invalid timestamp'],
  [35, 'unsupported version'],
  [48, 'invalid transaction state'],
  [53, 'not authorized for the transactional id'],
  [87, 'invalid record'],
])

/** Any code that is not in the table is a refusal: it is told, never retried. */
export function verdictOf(code: number): Verdict {
  return verdicts.get(code) ?? 'refused'
}

/** For messages: the code with its name where it is a refusal that we know. */
export function codeText(code: number): string {
  const name = names.get(code)
  return name === undefined ? `error code ${code}` : `error code ${code}, ${name}`
}
