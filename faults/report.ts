import { readFile, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import type { Measurements } from './fault.ts'
import { faults } from './faults.ts'

export type Outcome = {
  readonly name: string
  readonly promise: string
  readonly verdict: 'passed' | 'failed' | 'skipped'
  readonly figures: Measurements
  /** The load average before it began: others may be busy on the machine. */
  readonly load: number
  readonly reason?: string
}

const file = 'docs/promises.md'
const [begin, end] = ['<!-- figures: npm run test:faults -- --write -->', '<!-- end of figures -->']
const head = '| Promise | Measured | Shown by `npm run test:faults --` |\n|---|---|---|'

/** Writes the figures into the table of docs/promises.md; rows of faults that did not run now stay as they are. */
export async function writeMeasurements(
  outcomes: readonly Outcome[],
  { isQuick }: { isQuick: boolean },
): Promise<void> {
  const text = await readFile(file, 'utf8')
  const [before, rest = ''] = text.split(begin)
  const [table = '', after] = rest.split(end)
  if (before === undefined || after === undefined) throw new Error(`${file} has no place for figures`)
  const rows = new Map(
    table.split('\n').flatMap((line) => {
      const [, name] = /\| `([\w-]+)` \|$/.exec(line) ?? []
      return name ? [[name, line] as const] : []
    }),
  )
  for (const outcome of outcomes) if (outcome.verdict !== 'skipped') rows.set(outcome.name, rowOf(outcome, isQuick))
  const lines = faults.flatMap(({ name }) => rows.get(name) ?? [])
  await writeFile(file, `${before}${begin}\n\n${head}\n${lines.join('\n')}\n\n${end}${after}`)
}

function rowOf({ name, promise, verdict, figures, load }: Outcome, isQuick: boolean): string {
  const measured = Object.entries(figures).map(([what, figure]) => `${what}: ${figure}`)
  if (verdict === 'failed') measured.unshift('**not kept**')
  const size = `(${isQuick ? 'quick run, ' : ''}${availableParallelism()} cores, load ${Math.round(load)} before)`
  return `| ${promise} | ${measured.join('; ')} ${size} | \`${name}\` |`
}
