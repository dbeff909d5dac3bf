import assert from 'node:assert/strict'

/** Asserts that a server is ready, loads a file, answers its rows and makes a tile of it. */
export async function demandWork(url: string, key: string): Promise<void> {
  const call = (path: string, init: RequestInit = {}) =>
    fetch(`${url}${path}`, { ...init, headers: { 'x-api-key': key, prefer: 'wait=30', ...init.headers } })
  assert.equal((await call('/api/v1/readiness')).status, 200)
  const form = new FormData()
  form.append('file', new Blob(['name,lon,lat\nBerlin,13.4,52.5\nRoma,12.5,41.9\n']), 'towns.csv')
  const sent = (await (await call('/api/v1/uploads', { method: 'POST', body: form })).json()) as { id: string }
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was answered
  const look = async () => (await (await call(`/api/v1/uploads/${sent.id}`)).json()) as any
  let upload = await look()
  for (let tries = 0; tries < 60 && ['pending', 'processing'].includes(upload.status); tries++) upload = await look()
  assert.equal(upload.status, 'completed', JSON.stringify(upload))
  const rows = await call(`/api/v1/datasets/${upload.datasetId}/query`)
  assert.match(await rows.text(), /Berlin/)
  const tile = await call(`/tiles/${upload.tileSourceId}/0/0/0.pbf`)
  assert.deepEqual([tile.status, (await tile.arrayBuffer()).byteLength > 20], [200, true])
}
