import type { Random } from './random.ts'

/** A frame as no venue should send it: cut short, not JSON at all, the wrong JSON, or fields of the wrong type. */
export function damaged(frame: string, random: Random): string {
  const ways: readonly (() => string)[] = [
    () => frame.slice(0, 1 + random.below(frame.length - 1)),
    () => '<html><body>502 Bad Gateway</body></html>',
    () => 'null',
    () => '[]',
    () => '{}',
    () => '',
    () => frame.replaceAll(/"(p|px|price)":"[^"]*"/g, '"$1":null'),
    () => frame.replaceAll(/"(q|sz|size|v)":"[^"]*"/g, '"$1":"a lot"'),
    () => frame.replaceAll(/"(m|S|side)":("[^"]*"|true|false)/g, '"$1":7'),
  ]
  return (ways[random.below(ways.length)] ?? (() => ''))()
}
