import { checks, runSteps } from './steps.ts'

/** `npm run check`: types, lint, unused code and format. */
process.exitCode = (await runSteps(checks)).length === 0 ? 0 : 1
