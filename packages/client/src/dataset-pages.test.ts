import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ClientServer, clientServer } from '../testing/client-server.ts'
import type { RowPage } from './client.ts'

let server: ClientServer
let id: string
before(async () => {
  server = await clientServer()
  const client = server.client()
  const lines = Array.from({ length: 25 }, (_, index) => `${index % 3},${index},50`)
  const file = new File([`kind,lon,lat\n${lines.join('\n')}\n`], 'places.csv')
  const upload = await client.uploads.wait((await client.uploads.upload(file, { name: 'Places' })).id)
  id = upload.datasetId ?? ''
})
after(() => server.close())

test('pages of a dataset are read one after the other, each row once', async () => {
  const { datasets } = server.client()
  const query = { order: ['-kind'], attributes: ['kind', 'lon'], limit: 10 }
  const links: (string | null)[] = []
  const onResponse = ({ headers }: Response) => links.push(headers.get('link'))
  const rows: object[] = []
  let page: RowPage<object> = { rows: [], next: '' }
  while (page.next !== null) {
    page = await datasets.page(id, query, { cursor: page.next, onResponse })
    rows.push(...page.rows)
  }
  assert.deepEqual(rows, await datasets.query(id, { ...query, limit: 100 }))
  assert.deepEqual(
    links.map((link) => link?.includes('cursor=')),
    [true, true, undefined],
  )
  assert.equal((await datasets.page(id)).rows.length, 25)
})

test('a dataset without a key has no pages, and says so', async () => {
  const { datasets } = server.client()
  const keyless = await datasets.create({ type: 'sql', name: 'One', source: 'SELECT 1 AS n' })
  await assert.rejects(datasets.page(keyless.id), { status: 400, message: /no primary key/ })
})
