import { expect, it } from 'vitest'
import { drawSvg, type Chart } from './chart.ts'

const chart: Chart = {
  title: 'a < b',
  times: ['2024-08-08T23:54:00Z', '2024-08-08T23:55:00Z', '2024-08-08T23:56:00Z'],
  lines: [
    { name: 'price', values: [100, 102, 99], color: 'blue', side: 'left' },
    { name: 'cvd', values: [5, null, 7], color: 'red', side: 'right' },
  ],
}
const paths = (svg: string): string[] => [...svg.matchAll(/<path d="([^"]+)"/g)].map(([, path = '']) => path)

it('puts each value where its own scale has it, and leaves gaps', () => {
  // 820 wide from 70, 340 high from 40: 102 is at the top, 99 at the bottom, 100 a third above it.
  expect(paths(drawSvg(chart))).toEqual(['M70.0 266.7 L480.0 40.0 L890.0 380.0', 'M70.0 380.0 M890.0 40.0'])
})

it('escapes what it is told', () => {
  expect(drawSvg(chart)).toContain('a &lt; b')
})

it('draws a frame where there is nothing to draw, and a line that does not move', () => {
  expect(paths(drawSvg({ ...chart, times: [], lines: [] }))).toEqual([])
  const still: Chart = { ...chart, lines: [{ name: 'p', values: [5, 5, 5], color: 'blue', side: 'left' }] }
  expect(paths(drawSvg(still))).toEqual(['M70.0 210.0 L480.0 210.0 L890.0 210.0'])
})
