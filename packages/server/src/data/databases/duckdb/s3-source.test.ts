import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { type TestContext, test } from 'node:test'
import { plainStream, s3Server } from '../../../../testing/peers/s3-server.ts'
import { readS3Location } from './s3-record.ts'
import { s3Source } from './s3-source.ts'

const key = { id: 'AKIATEST', secret: 'a secret/of+signs' }
const signal = AbortSignal.timeout(600_000)

async function setUp(t: TestContext, options: Parameters<typeof s3Server>[0] = {}) {
  const server = await s3Server(options)
  t.after(server.close)
  const source = (given: Partial<Parameters<typeof s3Source>[0]> = {}, db = 's3://maps/data/') =>
    s3Source({
      location: readS3Location({ db, host: server.origin, metadata: { region: 'eu-central-1' } }),
      key: undefined,
      files: undefined,
      stream: plainStream,
      isTable: (file) => file.endsWith('.csv'),
      ...given,
    })
  const signed = (secretAccessKey = key.secret, accessKeyId = key.id) =>
    source({ key: { accessKeyId, secretAccessKey } })
  return { server, source, signed }
}

const page = (inside: string) => `<?xml version="1.0"?><ListBucketResult>${inside}</ListBucketResult>`

test('a listing goes through all its pages, signed, and takes the tables directly behind the prefix', async (t) => {
  const { server, signed } = await setUp(t, { pageKeys: 2 })
  server.key = key
  const names = [
    'data/a.csv',
    'data/b (1)~!.csv',
    'data/c+d.csv',
    'data/straße.csv',
    'data/read.me',
    'data/x/y.csv',
    'e.csv',
  ]
  for (const name of names) server.objects.set(name, Buffer.from(name))
  const source = signed()
  assert.deepEqual(await source.list(signal), ['a.csv', 'b (1)~!.csv', 'c+d.csv', 'straße.csv'])
  assert.deepEqual(server.asked, ['200 /maps/', '200 /maps/', '200 /maps/'])
  for (const name of ['b (1)~!.csv', 'c+d.csv', 'straße.csv']) {
    const { status, headers, body } = await source.get(name, {}, signal)
    assert.equal(status, 200, name)
    assert.equal(String((await Array.fromAsync(body))[0]), `data/${name}`)
    const again = await source.get(name, { 'if-none-match': headers.etag ?? '' }, signal)
    assert.equal(again.status, 304)
  }
})

test('the bucket is in the host name or in the path', () => {
  const addressOf = (db: string, host = '', metadata = {}) =>
    s3Source({
      location: readS3Location({ db, host, metadata }),
      key: undefined,
      files: [],
      stream: plainStream,
      isTable: () => true,
    }).addressOf('a b.csv')
  assert.equal(addressOf('s3://maps/x/'), 'https://maps.s3.us-east-1.amazonaws.com/x/a%20b.csv')
  assert.equal(
    addressOf('s3://maps/', '', { region: 'cn-north-1' }),
    'https://maps.s3.cn-north-1.amazonaws.com.cn/a%20b.csv',
  )
  assert.equal(addressOf('s3://my.maps/', ''), 'https://s3.us-east-1.amazonaws.com/my.maps/a%20b.csv')
  assert.equal(
    addressOf('s3://maps/', 'https://minio.example.org:9000'),
    'https://minio.example.org:9000/maps/a%20b.csv',
  )
  assert.equal(
    addressOf('s3://maps/', 'https://minio.example.org:9000', { pathStyle: false }),
    'https://maps.minio.example.org:9000/a%20b.csv',
  )
})

test('a refused request says what to do, in our words', async (t) => {
  const { server, source, signed } = await setUp(t)
  server.key = key
  const refused = (from: ReturnType<typeof source>, message: RegExp) =>
    assert.rejects(from.list(signal), { code: 'invalid_request', message })
  await refused(source(), /access is denied without a key. Give an access key as user and its secret as password/)
  await refused(signed('wrong'), /the signature does not match. Check password/)
  await refused(signed(key.secret, 'AKIAOTHER'), /does not know the access key. Check user/)
  const keyed = { key: { accessKeyId: key.id, secretAccessKey: key.secret } }
  const elsewhere = readS3Location({ db: 's3://maps/', host: server.origin, metadata: {} })
  await refused(
    source({ ...keyed, location: elsewhere }),
    /in the region eu-central-1: set metadata.region to "eu-central-1"/,
  )
  await refused(source(keyed, 's3://other/'), /there is no bucket "other"/)
  await refused(signed(), /no Parquet, CSV, JSON or .duckdb files directly behind s3:\/\/maps\/data\//)
  const words = [
    [301, { 'x-amz-bucket-region': 'eu-west-1' }, '', /in the region eu-west-1/],
    [
      307,
      { location: 'http://169.254.169.254/' },
      '',
      /at another address: check metadata.region and host. Redirects are not/,
    ],
    [
      301,
      { 'x-amz-bucket-region': '<b>click</b>' },
      '<Error><Message>words</Message></Error>',
      /check metadata.region/,
    ],
    [403, {}, '<Error><Code>toString</Code></Error>', /^The listing: the server answered with status 403.$/],
    [400, {}, `<Error><Code>${'x'.repeat(100_000)}</Code></Error>`, /status 400/],
  ] as const
  for (const [status, headers, body, message] of words) {
    server.answer = (_, response) => void response.writeHead(status, headers).end(body)
    await refused(source(), message)
  }
  server.answer = (_, response) => void response.writeHead(503).end()
  await assert.rejects(source().list(signal), { code: 'upstream_failed' })
})

test('a hostile listing is bounded', async (t) => {
  const { server, source } = await setUp(t)
  let pages = 0
  const answer = (body: (response: ServerResponse) => unknown): void => {
    server.answer = (_, response) => void body(response.writeHead(200))
  }
  const refused = (code: string, message: RegExp) => assert.rejects(source().list(signal), { code, message })
  const truncated = '<IsTruncated>true</IsTruncated>'
  const more = `${truncated}<NextContinuationToken>x</NextContinuationToken>`
  answer((response) => response.end(page(`${more}<Contents><Key>data/${pages++}</Key></Contents>`)))
  await refused('too_large', /more than 20000 objects .* Give a longer prefix, or name the files in metadata.files/)
  assert.equal(pages, 20)
  const many = Array.from({ length: 101 }, (_, index) => `<Contents><Key>data/${index}.csv</Key></Contents>`)
  answer((response) => response.end(page(many.join(''))))
  await refused('too_large', /more than 100 files of data/)
  answer((response) => response.end(page(truncated)))
  await refused('invalid_request', /did not answer with a listing of S3/)
  const entities = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'
  for (const body of [`${entities}${page('&b;')}`, page('&b;'), '<html>', '{}', '', '<a>'.repeat(10_000), '<x/>']) {
    answer((response) => response.end(body))
    await refused('invalid_request', /did not answer with a listing of S3/)
  }
  const chunk = Buffer.alloc(1024 * 1024, 'x')
  let sent = 0
  const endless = function* () {
    yield '<ListBucketResult><Contents><Key>'
    for (; sent < 64; sent++) yield chunk
  }
  const ended = Promise.withResolvers<void>()
  answer((response) => pipeline(endless, response).catch(ended.resolve))
  await refused('too_large', /larger than 8388608 bytes/)
  await ended.promise
  assert.ok(sent < 64)
})

test('keys that lead elsewhere are no files', async (t) => {
  const { server, source } = await setUp(t)
  const keys = ['data/ok.csv', 'data/../x.csv', 'other/y.csv', '../z.csv', 'data/%zz.csv', '']
  const contents = keys.map((name) => `<Contents><Key>${name}</Key></Contents>`).join('')
  server.answer = (_, response) => void response.end(page(`<EncodingType>url</EncodingType>${contents}`))
  const isTable = (file: string) => /^[\w.]+$/.test(file) && !file.startsWith('.')
  assert.deepEqual(await source({ isTable }).list(signal), ['ok.csv'])
})
