import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { wordsOf, insertSource, literal, splitFormat, usesServerFiles } from './statement.ts'

const texts = (sql: string): string[] => wordsOf(sql).map((word) => word.text)

const SIGNS = ["'", '"', '`', '\\', '$', '(', ')', '/', '*', '-', '#', '\n', ' ', 'a', '1']

describe('wordsOf', () => {
  it.each([
    ["select 'a;b' ;", ['select', "''", ';']],
    ["select 'it''s', 'a\\'b'", ['select', "''", ',', "''"]],
    ['select `a;``b`, "c\\"d"', ['select', "''", ',', "''"]],
    ['a -- b ; c\nd', ['a', 'd']],
    ['a /* b /* c */ d */ e', ['a', 'e']],
    ['a # b\nc #! d\ne', ['a', 'c', 'e']],
    ["select $x$ it's ; $y$ $x$, 1", ['select', "''", ',', '1']],
  ])('steps over quotes and comments of %s', (sql, words) => {
    expect(texts(sql)).toEqual(words)
  })

  it('counts brackets, the closing one with its opening one', () => {
    expect(wordsOf('f(a[1])').map((word) => [word.text, word.depth])).toEqual([
      ['f', 0],
      ['(', 0],
      ['a', 1],
      ['[', 1],
      ['1', 2],
      [']', 1],
      [')', 0],
    ])
  })

  it('ends on any text and gives words in their places', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...SIGNS) }), (sql) => {
        let last = 0
        for (const { text, start, end } of wordsOf(sql)) {
          expect(start).toBeGreaterThanOrEqual(last)
          expect(text === "''" || sql.slice(start, end) === text).toBe(true)
          last = end
        }
      }),
    )
  })
})

describe('splitFormat', () => {
  it.each([
    ['select 1 format JSON', 'select 1 ', 'JSON', ''],
    ['select 1 FORMAT CSV SETTINGS a=1;', 'select 1 ', 'CSV', ' SETTINGS a=1'],
    ['select 1;', 'select 1', undefined, ''],
    ["select 'format JSON'", "select 'format JSON'", undefined, ''],
    ['select format from t', 'select format from t', undefined, ''],
    ['select 1 -- format JSON', 'select 1 -- format JSON', undefined, ''],
    ['select (select 1 format x) y', 'select (select 1 format x) y', undefined, ''],
  ])('splits %s', (sql, body, format, tail) => {
    expect(splitFormat(sql)).toEqual({ body, format, tail })
  })
})

describe('insertSource', () => {
  it('says where an INSERT takes its rows from', () => {
    expect(insertSource('select 1')).toBeUndefined()
    expect(insertSource('insert into t select 1')).toEqual({ from: 'select' })
    expect(insertSource('insert into t')).toEqual({ from: 'nothing-said' })
    expect(insertSource('insert into t (a, b) values (1,2)')).toMatchObject({
      from: 'data',
      format: 'Values',
      dataStart: 27,
    })
    expect(insertSource('insert into t settings a=1 format CSV\n1')).toMatchObject({
      format: 'CSV',
      settingsStart: 14,
      headEnd: 27,
      dataStart: 37,
    })
  })

  it('does not take data for words of the statement', () => {
    expect(insertSource("insert into t format CSV\n'select settings'")).toMatchObject({ settingsStart: undefined })
    expect(insertSource('insert into `select` format CSV')).toMatchObject({ from: 'data' })
  })
})

describe('usesServerFiles', () => {
  it('sees the engine’s own file access but not its name in a text', () => {
    expect(usesServerFiles("select 1 into outfile 'x'")).toBe(true)
    expect(usesServerFiles("insert into t from infile 'x' format CSV")).toBe(true)
    expect(usesServerFiles("select 'into outfile', `infile`")).toBe(false)
  })
})

describe('literal', () => {
  it('escapes what would end it', () => {
    expect(literal("a'b\\c")).toBe("'a\\'b\\\\c'")
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(texts(literal(text))).toEqual(["''"])
      }),
    )
  })
})
