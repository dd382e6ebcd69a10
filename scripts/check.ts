import { runCommand } from './command/command.ts'
import { checks, runSteps } from './steps.ts'

const usage = 'npm run check: types, lint, unused code and format. Exit 0: all is well; 1: not.'

await runCommand({ usage, flags: {} }, async () => (await runSteps(checks)).length === 0)
