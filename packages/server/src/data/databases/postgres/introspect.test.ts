import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../../kernel/errors.ts'
import type { PostgresConnection } from '../../../query/execution/connection.ts'
import type { Dataset } from '../../datasets/dataset-record.ts'
import type { SourceContext } from '../../datasets/dataset-type.ts'
import { tableType } from '../../datasets/types/table.ts'
import { connectionOf } from './connect.ts'
import { describeTable } from './introspect.ts'

const other = 'app_0123456789abcdef0123456789abcdef'

/** Somebody's own server, which may well be ours, with a user who may read everything. */
function silentConnection(): PostgresConnection & { asked: number } {
  const connection = {
    schema: 'public',
    asked: 0,
    select: async () => {
      connection.asked++
      return { columns: [], batches: (async function* () {})(), isWhole: true }
    },
  }
  return connection
}

const sources = [
  `${other}.roads`,
  `"${other}"."roads"`,
  `${other.toUpperCase()}.roads`,
  'svc.apikeys',
  'pg_catalog.pg_class',
  'pg_toast.pg_toast_1255',
  'information_schema.tables',
]

test('no table of another application, the service or the system is described or read, whatever the database', async () => {
  const refusals = new Set<string>()
  for (const source of sources) {
    const connection = silentConnection()
    const isAbsent = (error: unknown): boolean => {
      assert.ok(error instanceof ApiError && error.status === 400)
      refusals.add(error.message.replace(source, '{source}'))
      return true
    }
    await assert.rejects(describeTable(connection, source, { timeoutMs: 1000 }), isAbsent, source)
    const dataset = { source, attributes: [], metadata: {} } as unknown as Dataset
    await assert.rejects(
      tableType.open(dataset, { connect: async () => connectionOf(connection) } as SourceContext, {}),
      isAbsent,
      source,
    )
    assert.equal(connection.asked, 0, source)
  }
  const absent = describeTable(silentConnection(), 'roads', { timeoutMs: 1000 })
  await assert.rejects(absent, (error: Error) => refusals.has(error.message.replace('roads', '{source}')))
  assert.equal(refusals.size, 1)
})
