import { writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { accountOracle } from './account-oracle.ts'
import { askAgents } from './agents.ts'
import { archiveTiles } from './archive-tiles.ts'
import { bearer } from './bearer.ts'
import { getById } from './get-by-id.ts'
import { queryDatasets } from './query-datasets.ts'
import { readers } from './readers.ts'
import { tiles } from './tiles.ts'
import { uploads } from './uploads.ts'

// Side by side in one run on one machine: the ratios mean something, the absolute figures only here.
const sections: string[] = []
for (const section of [getById, bearer, queryDatasets, accountOracle, tiles, archiveTiles, askAgents, readers, uploads])
  sections.push(await section())
const text = [
  '# Benchmarks',
  '',
  `Written by \`npm run bench\`. Node ${process.version}, ${process.arch}, ${availableParallelism()} cores, all on one machine.`,
  '',
  ...sections,
].join('\n')
await writeFile(new URL('RESULTS.md', import.meta.url), text)
console.log(text)
