import { readFileSync } from 'node:fs'
import { testRules, TestFileError } from './alert-rules/run.ts'

const usage = `npm run rules -- test FILE...: rings rules over written series, and says where they ring otherwise than expected.
A file: scripts/alert-rules/README.md.`

/** Exit 0: all rang as expected; 1: one did not; 2: a file cannot be read, or the command is none. */
function main([command, ...files]: readonly string[]): number {
  if (command !== 'test' || files.length === 0) {
    console.error(usage)
    return command === '--help' ? 0 : 2
  }
  let failed = 0
  for (const file of files) {
    try {
      const results = testRules(JSON.parse(readFileSync(file, 'utf8')))
      for (const { test, faults } of results) {
        console.log(`${faults.length === 0 ? 'ok' : 'FAILED'}  ${file}: ${test}`)
        for (const fault of faults) console.log(`  ${fault}`)
        failed += Number(faults.length > 0)
      }
    } catch (error) {
      if (!(error instanceof TestFileError || error instanceof SyntaxError || isMissing(error))) throw error
      console.error(`${file}: ${error.message}`)
      return 2
    }
  }
  return failed === 0 ? 0 : 1
}

function isMissing(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

process.exitCode = main(process.argv.slice(2))
