import { bybitSource } from './bybit/source.ts'
import { okxSource } from './okx/source.ts'
import type { Source } from './source.ts'

/** Every venue that says something beside trades. One line each. */
export const sources: readonly Source[] = [bybitSource, okxSource]
