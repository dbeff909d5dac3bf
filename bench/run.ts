import { writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { getById } from './get-by-id.ts'
import { queryDatasets } from './query-datasets.ts'

// Side by side in one run on one machine: the ratios mean something, the absolute figures only here.
const sections = [await getById(), await queryDatasets()]
const text = [
  '# Benchmarks',
  '',
  `Written by \`npm run bench\`. Node ${process.version}, ${process.arch}, ${availableParallelism()} cores, all on one machine.`,
  '',
  ...sections,
].join('\n')
await writeFile(new URL('RESULTS.md', import.meta.url), text)
console.log(text)
