// The ways to the rows of a dataset by tools of models, and by files that callers share.
import assert from 'node:assert/strict'
import { expectedRows, type Sight, sameRows } from './matrix-world.ts'
import type { Door } from './reading-doors.ts'

type Result = { readonly isError?: boolean; readonly content: readonly { readonly text: string }[] }

async function use(
  sight: Sight,
  name: string,
  input: object,
): Promise<{ isError: boolean; value: Record<string, unknown>; text: string }> {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } }
  const headers = { accept: 'application/json, text/event-stream' }
  const ask = name === 'list_datasets' ? sight.askNaming : sight.ask
  const answer = await ask('POST', '/api/v1/mcp', { body, headers })
  assert.equal(answer.status, 200, answer.text)
  const { result } = answer.body as { result: Result }
  const text = result.content[0]?.text ?? ''
  return { isError: result.isError === true, value: result.isError ? {} : JSON.parse(text), text }
}

async function tools(sight: Sight): Promise<void> {
  const { id: datasetId, view, table } = sight
  const described = await use(sight, 'describe_dataset', { datasetId })
  assert.equal(described.value.rows, view.rows.length, `${sight.label}: describe ${described.text}`)
  const listed = await use(sight, 'list_datasets', { limit: 50 })
  const { datasets } = listed.value as {
    datasets: { id: string; rowEstimate: number | null; extent: unknown; attributes: number }[]
  }
  const own = datasets.find(({ id }) => id === datasetId)
  assert.equal(own?.attributes, view.columns.length, `${sight.label}: list`)
  if (view.isBound) assert.deepEqual([own?.rowEstimate, own?.extent], [null, null], `${sight.label}: estimates`)
  const counted = await use(sight, 'summarize_dataset', { datasetId, measures: [{ function: 'count' }] })
  assert.deepEqual((counted.value.rows as object[])[0], { count: view.rows.length }, `${sight.label}: summary`)
  const queried = await use(sight, 'query_dataset', {
    datasetId,
    limit: 200,
    geometry: view.columns.includes(table.geometry) ? 'full' : 'none',
  })
  if (!queried.isError)
    assert.equal((queried.value.rows as unknown[]).length, view.rows.length, `${sight.label}: query`)
  await use(sight, 'list_datasets', { bbox: [6, 45, 11, 48] })
  if (!view.columns.includes(table.geometry)) return
  await use(sight, 'find_nearby', { datasetId, point: [7.5, 46.5], distanceMeters: 500_000 })
  await use(sight, 'spatial_join', { datasetId, toDatasetId: datasetId, distanceMeters: 300_000, limit: 5 })
}

const file = ({ id }: Sight, format: string): string => `/api/v1/datasets/${id}/query?format=${format}`

/** Files are made once for all who see the same: each caller asks twice, and for parts. */
async function files(sight: Sight): Promise<void> {
  for (const format of ['fgb', 'gpkg']) {
    const whole = await sight.ask('GET', file(sight, format))
    if (whole.status !== 200) {
      assert.ok(!sight.view.columns.includes(sight.table.geometry), `${sight.label}: ${format}: ${whole.text}`)
      continue
    }
    for (const { cells } of sight.view.rows)
      if (cells.mark_qz != null) assert.ok(whole.text.includes(String(cells.mark_qz)), `${sight.label}: ${format}`)
    await sight.ask('HEAD', file(sight, format))
    const part = await sight.ask('GET', file(sight, format), { headers: { range: 'bytes=0-199999' } })
    assert.ok([200, 206, 416].includes(part.status), part.text)
  }
}

export const toolDoors: readonly Door[] = [tools, files]

/** A page that another caller began goes on with rows of one's own. */
export async function continuePage(sight: Sight, url: string): Promise<void> {
  const answer = await sight.ask('GET', url)
  if (answer.status !== 200) return
  const own = new Set(expectedRows(sight).map((row) => JSON.stringify(row)))
  const rows = answer.body as object[]
  sameRows(
    rows,
    rows.filter((row) => own.has(JSON.stringify(row))),
    `${sight.label}: a page of another caller`,
  )
}
