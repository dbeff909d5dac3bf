// npm run test:faults [-- [--quick] [--seed N] [--minutes N] [--write] [NAME…]]
// Breaks what the server depends on, and the server itself, at random moments, and looks whether what docs/promises.md promises holds.
import { randomInt } from 'node:crypto'
import { availableParallelism, loadavg } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createRandom } from '../packages/server/testing/uploads/random.ts'
import { openContext } from './context.ts'
import { type Fault, type Measurements, NotHere } from './fault.ts'
import { faults } from './faults.ts'
import { type Outcome, writeMeasurements } from './report.ts'

process.chdir(resolve(import.meta.dirname, '..'))
const { values, positionals } = parseArgs({
  options: {
    quick: { type: 'boolean' },
    seed: { type: 'string' },
    minutes: { type: 'string' },
    write: { type: 'boolean' },
  },
  allowPositionals: true,
})
const isQuick = values.quick ?? false
const seed = values.seed === undefined ? randomInt(2 ** 26) : Number(values.seed)
const minutes = values.minutes === undefined ? undefined : Number(values.minutes)
const begun = performance.now()
const outcomes: Outcome[] = []
let closeCurrent = async (): Promise<void> => undefined

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => void closeCurrent().finally(() => process.exit(130)))
// What a killed server leaves in mid-air is counted where it is expected; here it would end the run.
process.on('unhandledRejection', (error) => console.error('  unhandled:', error))

const chosen = choose(positionals)
const busy = (loadavg()[0] ?? 0).toFixed(1)
console.log(
  `${chosen.length} faults, --seed ${seed}${isQuick ? ' --quick' : ''}, load ${busy} on ${availableParallelism()} cores`,
)
for (const fault of chosen) {
  const outcome = await runFault(fault)
  outcomes.push(outcome)
  if (values.write) await writeMeasurements([outcome], { isQuick })
}
finish()

function choose(wanted: readonly string[]): readonly Fault[] {
  const unknown = wanted.filter((name) => !faults.some((fault) => fault.name.startsWith(name)))
  if (unknown.length > 0) {
    console.log(`There is no ${unknown.join(', ')}. Choose from ${faults.map(({ name }) => name).join(', ')}.`)
    process.exit(1)
  }
  return faults.filter(({ name, isOnDemand }) =>
    wanted.length > 0 ? wanted.some((start) => name.startsWith(start)) : !isOnDemand,
  )
}

async function runFault(fault: Fault): Promise<Outcome> {
  const { name, promise } = fault
  console.log(`\n${name}: ${promise}`)
  const context = openContext({ isQuick, minutes })
  closeCurrent = context.close
  const start = performance.now()
  const load = loadavg()[0] ?? 0
  const outcome = await fault.run(context, createRandom(seedOf(name))).then(
    (figures): Outcome => ({ name, promise, load, verdict: 'passed', figures }),
    (error: Error): Outcome => ({
      name,
      promise,
      load,
      figures: {} as Measurements,
      verdict: error instanceof NotHere ? 'skipped' : 'failed',
      reason: error instanceof NotHere ? error.message : (error.stack ?? error.message),
    }),
  )
  await context.close()
  closeCurrent = async () => undefined
  for (const [what, figure] of Object.entries(outcome.figures)) console.log(`    ${what}: ${figure}`)
  if (outcome.reason) console.log(outcome.reason.replaceAll(/^/gm, '    '))
  console.log(`  ${outcome.verdict} (${((performance.now() - start) / 1000).toFixed(1)} s)`)
  return outcome
}

/** Of a fault alone as of the same one among others. */
function seedOf(name: string): number {
  return [...name].reduce((hash, letter) => Math.imul(hash, 31) + (letter.codePointAt(0) ?? 0), seed) | 0
}

function finish(): void {
  const count = (verdict: Outcome['verdict']): number => outcomes.filter((one) => one.verdict === verdict).length
  const failed = outcomes.filter(({ verdict }) => verdict === 'failed')
  if (failed.length > 0)
    console.log(`\nFailed: ${failed.map(({ name }) => name).join(', ')}. Repeat one by NAME --seed ${seed}.`)
  const skipped = count('skipped') > 0 ? `, ${count('skipped')} skipped` : ''
  const took = `${((performance.now() - begun) / 60_000).toFixed(1)} min`
  console.log(`\nseed ${seed}, ${took}\n${count('passed')} passed, ${failed.length} failed${skipped}`)
  process.exit(failed.length > 0 || count('passed') === 0 ? 1 : 0)
}
