import { join } from 'node:path'
import { readConfig } from '../config/config.ts'
import { runService, sayReady } from '../lifecycle.ts'
import { startVenues } from './simulator.ts'

const names = [
  'DATA_DIR',
  'SIMULATOR_PORT',
  'SIMULATOR_SEED',
  'SIMULATOR_RATE',
  'SIMULATOR_FILLERS',
  'SIMULATOR_FAULTS',
  'SIMULATOR_TAPE',
  'SIMULATOR_SPEED',
  'SIMULATOR_RETIME',
] as const

await runService({
  name: 'simulator',
  description: 'speaks as every venue does, on one loopback port',
  settings: names,
  async start(log) {
    const config = readConfig(process.env, names)
    const { SIMULATOR_TAPE: path, SIMULATOR_SPEED: speed, SIMULATOR_RETIME: retime } = config
    const simulator = await startVenues({
      dataDir: join(config.DATA_DIR, 'simulator'),
      host: '127.0.0.1',
      port: config.SIMULATOR_PORT,
      seed: config.SIMULATOR_SEED,
      rate: config.SIMULATOR_RATE,
      fillers: config.SIMULATOR_FILLERS,
      faults: config.SIMULATOR_FAULTS,
      failed: (error) => log.error({ err: error }, 'an answer failed'),
      ...(path === '' ? {} : { tape: { path, speed, retime } }),
    })
    log.info({ url: simulator.url }, 'venues are open')
    sayReady(simulator.url)
    return () => simulator.close()
  },
})
