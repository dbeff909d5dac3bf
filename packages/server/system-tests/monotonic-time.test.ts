import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'

// One database is enough: this reads the sources.
const sources = resolve(import.meta.dirname, '../src')

/** Files that need the wall clock, and for what. */
const wallClock: Readonly<Record<string, string>> = {
  'api/access/secrets/access-tokens.ts': 'tokens say when they end',
  'api/access/bearer-cache.ts': 'tokens say when they end',
  'api/access/key-cache.ts': 'keys say when they end',
  'api/access/secrets/uuid-v7.ts': 'the time is part of the id',
  'boot/open/agent-tools.ts': 'tokens of tools say when they end',
  'agents/invocation/question.ts': 'workers on other machines are told a deadline',
  'tenants/auth/oidc/provider-tokens.ts': 'tokens say when they end',
  'tenants/auth/oidc/sign-in-flow.ts': 'a browser may come back to another replica',
  'tenants/auth/authenticator-codes.ts': 'codes follow the clock of a phone',
  'tenants/contactpoints/service-answer.ts': 'Retry-After may be a date',
  'data/databases/duckdb/remote-files.ts': 'files have times',
  'data/datasets/data-versions.ts': 'all replicas take the same period',
  'data/datasets/exports/export-files.ts': 'files have times',
  'data/datasets/exports/export-sweep.ts': 'files have times',
  'kernel/db/embedded/embedded-template.ts': 'a name',
  'boot/doctor/checks/database.ts': 'it compares the clocks',
  'boot/doctor/checks/machine.ts': 'it compares the clocks',
  'kernel/storage/s3/local-copies.ts': 'files have times',
  'kernel/storage/s3/s3-store.ts': 'files have times',
  'boot/telemetry/metrics-bridge.ts': 'metrics have times',
  'boot/telemetry/work-spans.ts': 'spans have times',
  'data/tiles/overviews/external-overviews.ts': 'rows have times',
  'data/tiles/overviews/files/file-overviews.ts': 'rows have times',
  'data/tiles/basemap/street-tiles.ts': 'all replicas take the same period',
  'data/tiles/overviews/overviews.ts': 'rows have times',
  'data/tiles/source/types/archive.ts': 'all replicas take the same period',
  'data/uploads/reader-process/gdal-pool.ts': 'files have times',
  'data/uploads/publish/janitor.ts': 'files have times',
  'tenants/usage/usage-operations.ts': 'usage is counted by days',
}

test('how long something takes or is trusted is measured by the monotonic clock, because the wall clock may be set back', () => {
  const found = globSync('**/*.ts', { cwd: sources })
    .filter((file) => !file.endsWith('.test.ts'))
    .filter((file) => /\bDate\.now\b/.test(readFileSync(join(sources, file), 'utf8')))
  const unexplained = found.filter((file) => !(file in wallClock))
  assert.deepEqual(unexplained, [], 'use performance.now(), or say here what the wall clock is for')
})
