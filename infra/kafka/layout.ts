import { knownAssets, mapHash } from '../../schemas/catalogue.ts'
import type { Layout } from '../../schemas/records.ts'

/** Raised when what lies in the log changes its meaning; older code must not touch it then. */
export const LAYOUT_VERSION = 1

/** The log was made by, or for, something that we are not: the message says what differs and what to do. */
export class LayoutError extends Error {
  readonly code: 'newer' | 'partitions' | 'map' | 'topic'
  constructor(code: LayoutError['code'], message: string) {
    super(message)
    this.code = code
  }
}

const WAY_OUT = 'start with an empty data folder or with another NAMESPACE'

/** Throws `LayoutError` where we must not start on a log of this layout. */
export function checkLayout(layout: Layout, partitions: number): void {
  if (layout.version > LAYOUT_VERSION) {
    throw new LayoutError(
      'newer',
      `the log ${layout.log} has layout version ${layout.version}, this release knows up to ${LAYOUT_VERSION}; ` +
        `run the newer release, or ${WAY_OUT}`,
    )
  }
  if (layout.partitions !== partitions) {
    throw new LayoutError(
      'partitions',
      `the log ${layout.log} was created with ${layout.partitions} partitions, PARTITIONS is ${partitions}; ` +
        `set PARTITIONS=${layout.partitions}, or ${WAY_OUT}`,
    )
  }
  if (!isExtensionOf(layout.map)) {
    throw new LayoutError(
      'map',
      `the log ${layout.log} was written with another asset map (${layout.map}, ours is ${mapHash()}): assets would ` +
        `change partitions; run the release that wrote it or a later one, or ${WAY_OUT}`,
    )
  }
}

/** Whether our map is the one of `hash` with nothing but assets added at its end. */
function isExtensionOf(hash: string): boolean {
  return knownAssets.some((_asset, index) => mapHash(knownAssets.slice(0, index + 1)) === hash)
}
