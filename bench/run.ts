import { writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { accountOracle } from './account-oracle.ts'
import { askAgents } from './agents.ts'
import { archiveTiles } from './archive-tiles.ts'
import { bearer } from './bearer.ts'
import { getById } from './get-by-id.ts'
import { httpAnswers } from './http-answers.ts'
import { queryDatasets } from './query-datasets.ts'
import { readers } from './readers.ts'
import { tiles } from './tiles.ts'
import { uploads } from './uploads.ts'

// `npm run bench -- httpAnswers` runs one part and writes nothing.
// Side by side in one run on one machine: the ratios mean something, the absolute figures only here.
const all: Record<string, () => Promise<string>> = {
  ...{ getById, bearer, httpAnswers, queryDatasets, accountOracle },
  ...{ tiles, archiveTiles, askAgents, readers, uploads },
}
const chosen = process.argv.slice(2)
const unknown = chosen.filter((name) => !Object.hasOwn(all, name))
if (unknown.length > 0)
  throw new Error(`There is no ${unknown.join(', ')}. Choose from ${Object.keys(all).join(', ')}.`)
const sections: string[] = []
for (const [name, section] of Object.entries(all))
  if (chosen.length === 0 || chosen.includes(name)) sections.push(await section())
const text = [
  '# Benchmarks',
  '',
  `Written by \`npm run bench\`. Node ${process.version}, ${process.arch}, ${availableParallelism()} cores, all on one machine.`,
  '',
  ...sections,
].join('\n')
if (chosen.length === 0) await writeFile(new URL('RESULTS.md', import.meta.url), text)
console.log(text)
