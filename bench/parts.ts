import type { Part } from './part.ts'
import { accountOracle } from './parts/account-oracle.ts'
import { agents } from './parts/agents.ts'
import { archives } from './parts/archives.ts'
import { cachedAnswers } from './parts/cached-answers.ts'
import { denseFiles } from './parts/dense-files.ts'
import { exports } from './parts/exports.ts'
import { features } from './parts/features.ts'
import { growthConnections, growthRows } from './parts/growth.ts'
import { lowZooms } from './parts/low-zooms.ts'
import { readers } from './parts/readers.ts'
import { records } from './parts/records.ts'
import { rules } from './parts/rules.ts'
import { thinning } from './parts/thinning.ts'
import { tilesMade } from './parts/tiles-made.ts'
import { uploadWaits } from './parts/upload-waits.ts'
import { uploads } from './parts/uploads.ts'
import { workers } from './parts/workers.ts'

/** In the order of the run: when the time is up, the last ones are left out. */
export const parts: readonly Part[] = [
  ...[tilesMade, cachedAnswers, archives, lowZooms, thinning, denseFiles, features, workers],
  ...[uploads, growthConnections, growthRows],
  ...[exports, records, rules, agents],
  ...[readers, accountOracle, uploadWaits],
]
