import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allTestFiles, usesBrowser } from './test-files.ts'
import { canUseBoth, hasName, namesOfTiers, planOf } from './test-tiers.ts'

const files = allTestFiles()
const main = planOf(files, 'main')
const all = planOf(files, 'all')

test('every name in the lists of npm test is that of a file', () => {
  assert.deepEqual(
    namesOfTiers.filter((name) => !files.some((file) => hasName(file, name))),
    [],
  )
})

test('npm test runs seven of eight files that need no browser on PostgreSQL, and a fifth of those that can on the embedded database', () => {
  const plain = files.filter((file) => !usesBrowser(file))
  const leftOut = plain.filter((file) => !main.onPostgres.includes(file))
  assert.ok(leftOut.length > 0 && leftOut.length < plain.length / 8, `${leftOut.length} of ${plain.length}`)
  const share = main.onEmbedded.length / files.filter(canUseBoth).length
  assert.ok(share > 0.15 && share < 0.3, `${main.onEmbedded.length} files`)
})

test('a change runs every file that it can reach, long ones too', () => {
  const plain = files.filter((file) => !usesBrowser(file))
  assert.deepEqual(planOf(plain, 'main', ['packages/server/src/main.ts']).onPostgres, plain)
})

test('npm run test:all runs every file, on each database that matters to it', () => {
  assert.deepEqual(all.onPostgres, files)
  assert.deepEqual(all.onEmbedded, files.filter(canUseBoth))
})

test('both say what they leave out', () => {
  assert.match(
    main.leftOut.join('\n'),
    /\d+ of the \d+ files .* embedded database\n\d+ of the \d+ files that need a browser\n\d+ files: servers, .*rolling-upgrade/,
  )
  assert.match(all.leftOut.join('\n'), /test:faults/)
})

test('a test file that was changed itself runs on each database, and in a browser', () => {
  const [browser = ''] = files.filter((file) => !main.onPostgres.includes(file))
  const [embedded = ''] = files.filter((file) => canUseBoth(file) && !main.onEmbedded.includes(file))
  const plan = planOf(files, 'main', [browser, embedded])
  assert.ok(plan.onPostgres.includes(browser) && plan.onEmbedded.includes(embedded))
})
