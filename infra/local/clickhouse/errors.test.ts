import { expect, it } from 'vitest'
import { exceptionBlock, QueryError } from './errors.ts'

it('takes the code out of the engine’s message and says it once', () => {
  const error = QueryError.from(
    new Error('Code: 60. DB::Exception: Code: 60. DB::Exception: no table x. (UNKNOWN_TABLE)'),
  )
  expect(error).toMatchObject({ code: 60, status: 404 })
  expect(error.text('1.2')).toBe('Code: 60. DB::Exception: no table x. (UNKNOWN_TABLE) (version 1.2)')
})

it('is an unknown exception where there is no code', () => {
  expect(QueryError.from(new Error('boom'))).toMatchObject({ code: 1002, status: 500 })
})

it('frames a late error with its tag and its length in bytes', () => {
  expect(exceptionBlock('abc', 'Fehler ü')).toBe('\r\n__exception__\r\nabc\r\nFehler ü\n10 abc\r\n__exception__\r\n')
})
