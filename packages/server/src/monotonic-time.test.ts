import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

// One database is enough: this reads the sources.

/** Files that need the wall clock, and for what. */
const wallClock: Readonly<Record<string, string>> = {
  'access/access-tokens.ts': 'tokens say when they end',
  'access/bearer-cache.ts': 'tokens say when they end',
  'access/key-cache.ts': 'keys say when they end',
  'access/uuid-v7.ts': 'the time is part of the id',
  'agent-tools.ts': 'tokens of tools say when they end',
  'agents/question.ts': 'workers on other machines are told a deadline',
  'contactpoints/service-answer.ts': 'Retry-After may be a date',
  'databases/duckdb/remote-files.ts': 'files have times',
  'datasets/data-versions.ts': 'all replicas take the same period',
  'datasets/export-files.ts': 'files have times',
  'datasets/export-sweep.ts': 'files have times',
  'db/embedded-template.ts': 'a name',
  'doctor/checks/database.ts': 'it compares the clocks',
  'doctor/checks/machine.ts': 'it compares the clocks',
  'storage/s3/local-copies.ts': 'files have times',
  'storage/s3/s3-store.ts': 'files have times',
  'telemetry/metrics-bridge.ts': 'figures have times',
  'telemetry/work-spans.ts': 'spans have times',
  'tiles/overviews/foreign-overviews.ts': 'rows have times',
  'tiles/overviews/overviews.ts': 'rows have times',
  'tiles/types/archive.ts': 'all replicas take the same period',
  'uploads/gdal-pool.ts': 'files have times',
  'uploads/janitor.ts': 'files have times',
  'usage/usage-operations.ts': 'usage is counted by days',
}

test('how long something takes or is trusted is measured by the monotonic clock, because the wall clock may be set back', () => {
  const found = globSync('**/*.ts', { cwd: import.meta.dirname })
    .filter((file) => !file.endsWith('.test.ts'))
    .filter((file) => /\bDate\.now\b/.test(readFileSync(new URL(file, import.meta.url), 'utf8')))
  const unexplained = found.filter((file) => !(file in wallClock))
  assert.deepEqual(unexplained, [], 'use performance.now(), or say here what the wall clock is for')
})
