import type { Services } from '../services.ts'

/** How often it is looked at what alerts need; a want that stands is written every 5 minutes at most, milliseconds. */
const EVERY_MS = 60_000

type Needed = Pick<Services, 'alerts' | 'wants' | 'preSubscribed' | 'log' | 'now'>

/**
 * Keeps the assets of liquidation alerts wanted until the alerts end: open interest, which their risk is folded from, is
 * gathered for wanted assets only. Prices are gathered for the whole catalogue, so price alerts want nothing. All API
 * instances want as one; the last want lapses a day after the last alert's end.
 */
export function keepWanted(services: Needed): { stop(): void } {
  let busy = false
  const timer = setInterval(() => {
    if (busy) return
    busy = true
    void renewAll(services).finally(() => {
      busy = false
    })
  }, EVERY_MS)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}

/** Renews one after the other; what fails is tried again with the next round. */
export async function renewAll({ alerts, wants, preSubscribed, log, now }: Needed): Promise<void> {
  for (const asset of alerts.log.newest.watched()) {
    if (preSubscribed.has(asset)) continue
    try {
      await wants.renew(asset, now())
    } catch (error) {
      log.warn({ err: error, asset }, 'wants of alerts could not be renewed; they are tried again in a minute')
      return
    }
  }
}
