import { report } from '../../../kernel/events.ts'
import type { MadeTile } from '../workers/tile-job.ts'

export const reportMade = ({ queryMs, encodeMs, compressMs, bytes }: MadeTile): void =>
  report('tileMade', {
    querySeconds: queryMs / 1000,
    encodeSeconds: encodeMs / 1000,
    compressSeconds: compressMs / 1000,
    bytes: bytes.length,
  })
