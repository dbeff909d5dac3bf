import assert from 'node:assert/strict'
import { createReadStream, openAsBlob } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type ClientServer, clientServer } from '../testing/client-server.ts'
import { ApiError, type Upload, UploadError, type UploadFile, type UploadProgress } from './client.ts'

let server: ClientServer
let directory: string
before(async () => {
  server = await clientServer()
  directory = await mkdtemp(join(tmpdir(), 'graticule-client-'))
})
after(async () => {
  await server.close()
  await rm(directory, { recursive: true, force: true })
})

const towns = `name,lon,lat\n${Array.from({ length: 2_000 }, (_, index) => `Town ${index},${index / 100},50\n`).join('')}`
const bytes = new TextEncoder().encode(towns)

async function loaded(upload: Upload): Promise<number> {
  const client = server.client()
  const { datasetId, status } = await client.uploads.wait(upload.id)
  assert.equal(status, 'completed')
  const [row] = await client.datasets.query<{ rows: number }>(String(datasetId), { attributes: ['count(*) as rows'] })
  return row?.rows ?? 0
}

describe('a file', () => {
  test('of every kind becomes a dataset, and its progress is told', async () => {
    const path = join(directory, 'towns.csv')
    await writeFile(path, towns)
    const kinds: [name: string, file: UploadFile, total: number | null][] = [
      ['a File', new File([towns], 'towns.csv'), bytes.length],
      ['a Blob of a path', await openAsBlob(path), bytes.length],
      ['bytes', bytes, bytes.length],
      ['a Buffer', Buffer.from(towns), bytes.length],
      ['an ArrayBuffer', bytes.slice().buffer, bytes.length],
      ['a web stream', new Blob([towns]).stream(), null],
      ['a stream of Node', createReadStream(path, { highWaterMark: 1_000 }), null],
    ]
    for (const [name, file, total] of kinds) {
      const progress: UploadProgress[] = []
      const upload = await server
        .client()
        .uploads.upload(
          file,
          { fileName: 'towns.csv', name, description: 'Größe "x"\r\n--y' },
          { onProgress: (now) => progress.push(now) },
        )
      assert.equal(upload.size, bytes.length, name)
      assert.equal(upload.fileName, 'towns.csv')
      assert.equal(upload.options.name, name)
      assert.equal(upload.options.description, 'Größe "x"\r\n--y')
      assert.deepEqual(progress[0], { loaded: 0, total }, name)
      assert.deepEqual(progress.at(-1), { loaded: bytes.length, total }, name)
      assert.ok(progress.every(({ loaded }, index) => loaded >= (progress[index - 1]?.loaded ?? 0)))
      if (name === 'bytes' || name === 'a web stream') assert.equal(await loaded(upload), 2_000)
    }
  })

  test('is sent without progress as well, under its own name', async () => {
    const upload = await server.client().uploads.upload(new File([towns], 'größe 1 & 2.csv'))
    assert.equal(upload.fileName, 'größe 1 & 2.csv')
    assert.equal(await loaded(upload), 2_000)
  })

  test('without a name is refused unsent', async () => {
    await assert.rejects(server.client().uploads.upload(bytes), /^TypeError: options.fileName: /)
  })

  test('that is too large is refused before it comes', async (t) => {
    const small = await clientServer({ UPLOAD_MAX_BYTES: '1000' })
    t.after(() => small.close())
    const file = new Blob([new Uint8Array(20_000_000)])
    const declared: number[] = []
    const fetchDeclaring: typeof fetch = (input, init) => {
      declared.push(Number(new Headers(init?.headers).get('content-length')))
      return fetch(input, init)
    }
    const { uploads } = small.client({ fetch: fetchDeclaring })
    const sent = uploads.upload(file, { fileName: 'a.csv' }, { onProgress() {} })
    await assert.rejects(sent, { name: 'ApiError', status: 413, code: 'too_large' })
    // Whoever knows the length need not wait for the end.
    assert.equal(declared.length, 1)
    assert.ok(Number(declared[0]) > file.size)
  })

  test('an abort while it is sent rejects with the reason of the signal', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const file = new Blob([new Uint8Array(50_000_000)])
    const sent = server
      .client()
      .uploads.upload(
        file,
        { fileName: 'a.csv' },
        { signal: controller.signal, onProgress: ({ loaded }) => loaded > 0 && controller.abort(reason) },
      )
    await assert.rejects(sent, (error) => error === reason)
  })
})

describe('a preview', () => {
  test('tells what an upload with these options would make, and makes nothing', async () => {
    const { uploads } = server.client()
    const before = (await uploads.list()).length
    const file = new File(['plz,where,seen\n8001,"[47.37, 8.54]",01.02.2024\n'], 'orte.csv')
    const plain = await uploads.preview(file)
    assert.equal(plain.layers[0]?.geometry, null)
    const { layers, error } = await uploads.preview(file, {
      geometry: 'where:lat,lon',
      types: { plz: 'string' },
      dateOrder: 'dmy',
      nulls: ['n/a', '-'],
    })
    assert.deepEqual(error, {})
    assert.deepEqual(layers[0]?.rows[0]?.geom, { type: 'Point', coordinates: [8.54, 47.37] })
    assert.deepEqual([layers[0]?.rows[0]?.plz, layers[0]?.rows[0]?.seen], ['8001', '2024-02-01'])
    assert.equal((await uploads.list()).length, before)
    await assert.rejects(uploads.preview(file, { geometry: 'there' }), { name: 'ApiError', status: 400 })
  })
})

describe('waiting for an upload', () => {
  test('tells the progress and gives the finished record', async () => {
    const { uploads } = server.client({ timeoutMs: 20_000 })
    const { id } = await uploads.upload(new File([towns], 'towns.csv'))
    const seen: Upload[] = []
    const upload = await uploads.wait(id, { onProgress: (now) => seen.push(now) })
    assert.equal(upload.status, 'completed')
    assert.equal(seen.at(-1), upload)
  })

  test('names what was seen, so that no change between two requests is missed', async () => {
    const asked: { etag: string | null; prefer: string | null; status: number }[] = []
    const fetchNoting: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      const headers = new Headers(init?.headers)
      asked.push({ etag: headers.get('if-none-match'), prefer: headers.get('prefer'), status: response.status })
      return response
    }
    const { uploads } = server.client({ fetch: fetchNoting })
    const { id } = await server.client().uploads.upload(new File([towns], 'towns.csv'))
    let etag: string | null = null
    await uploads.wait(id, {
      onProgress() {},
      onResponse({ headers }) {
        assert.equal(asked.at(-1)?.etag, etag)
        etag = headers.get('etag')
      },
    })
    assert.equal(asked[0]?.prefer, null, 'the first is answered at once')
    // It has ended, so nothing of it is waited for any more.
    assert.equal((await uploads.changed(id, { etag: String(etag) }))?.status, 'completed')
  })

  test('that does not change is told as no change', async () => {
    const { uploads } = server.client({
      fetch: async () => new Response(null, { status: 304, headers: { etag: '"7"' } }),
    })
    assert.equal(await uploads.changed('x', { etag: '"7"', seconds: 1 }), null)
  })

  test('rejects with the upload’s own error when it fails', async () => {
    const { uploads } = server.client()
    const { id } = await uploads.upload(new File(['{"type":"FeatureCollection","features":[{]}'], 'broken.geojson'))
    const error = await uploads.wait(id).catch((reason) => reason)
    assert.ok(error instanceof UploadError && error instanceof ApiError)
    assert.equal(error.upload.status, 'failed')
    assert.deepEqual([error.code, error.message], [error.upload.error.code, error.upload.error.message])
    assert.ok(error.message.length > 10)
  })

  test('rejects with the reason of its signal', async () => {
    const { uploads } = server.client({
      fetch: async (input, init) => {
        const response = await fetch(input, init)
        const record = (await response.json()) as Upload
        // As if it never ended, and the server never waited.
        return Response.json({ ...record, status: 'processing' })
      },
    })
    const { id } = await server.client().uploads.upload(new File([towns], 'towns.csv'))
    const controller = new AbortController()
    const reason = new Error('enough')
    let asked = 0
    const onProgress = () => {
      if (++asked === 3) controller.abort(reason)
    }
    await assert.rejects(uploads.wait(id, { signal: controller.signal, onProgress }), (error) => error === reason)
    assert.equal(asked, 3)
  })

  test('an upload that is deleted while it goes on was cancelled, or had ended', async () => {
    const { uploads } = server.client()
    const { id } = await uploads.upload(new File([towns], 'towns.csv'))
    await uploads.delete(id)
    const error = await uploads.wait(id).catch((reason) => reason)
    assert.ok(error instanceof ApiError)
    assert.match(error.code, /^(upload_cancelled|not_found)$/)
  })
})
