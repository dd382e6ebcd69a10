import { sayReady } from '../lifecycle.ts'
import { Forward } from './forward.ts'

/**
 * A forward as a process: `forward-main.ts PORT TARGET...`, all of them ports on loopback. SIGUSR2 cuts it, and another
 * mends it. It ends with its parent.
 */
const [port = 0, ...targets] = process.argv.slice(2).map(Number)
/** It is not cut for longer, whoever forgot it. */
const CUT_MS_MAX = 120_000

const forward = await Forward.listen(port, targets)
let mend: NodeJS.Timeout | undefined
process.on('SIGUSR2', () => {
  clearTimeout(mend)
  forward.isCut = !forward.isCut
  if (forward.isCut) mend = setTimeout(() => (forward.isCut = false), CUT_MS_MAX)
})
for (const signal of ['SIGTERM', 'SIGINT', 'disconnect'] as const) process.on(signal, () => process.exit(0))
sayReady(`http://127.0.0.1:${forward.port}`)
