import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import type { Dataset } from '@graticule/client'
import { loadSample } from '../../../../../server/src/data/uploads/sample.ts'
import { type TestApp, testApp } from '../../../../../server/testing/harness.ts'
import { simpleAddress } from './qgis-snippet.ts'
import { geometryIn, type SnippetInput } from './snippet-input.ts'
import { pythonLiteral, shellQuoted } from './snippet-literals.ts'
import { type SnippetKind, snippetKinds } from './snippets.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../../../../../..')
let app: TestApp
let key = ''
let server = ''
let directory = ''
let cities: Dataset
let large: Dataset

before(async () => {
  app = await testApp()
  const tenant = await app.tenant('snippets')
  key = tenant.developer
  await loadSample(app.db, tenant.id)
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  server = `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}`
  ;[cities] = (await app.call('GET', '/api/v1/datasets', { key })).body as [Dataset]
  const source = 'SELECT name, population FROM cities WHERE population > :least::int AND name LIKE :pattern'
  const made = await app.call('POST', '/api/v1/datasets', { key, body: { type: 'sql', name: 'Large', source } })
  large = made.body
  directory = await mkdtemp(join(tmpdir(), 'graticule-snippets-'))
  await mkdir(join(directory, 'node_modules/@graticule'), { recursive: true })
  await symlink(join(root, 'packages/client'), join(directory, 'node_modules/@graticule/client'))
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }')
  // What the snippet needs of GeoPandas, which is not everywhere: how many features there are.
  await writeFile(
    join(directory, 'geopandas.py'),
    'class GeoDataFrame(list):\n    from_features = classmethod(lambda cls, answer, crs: cls(answer["features"]))\n    head = lambda self: [f["properties"]["name"] for f in self]\n',
  )
})
after(async () => {
  await app?.close()
  await rm(directory, { recursive: true, force: true })
})

const write = (kind: SnippetKind, asked: SnippetInput): string =>
  snippetKinds.find(({ id }) => id === kind)?.write(asked) ?? ''
const withKey = (text: string): string => text.replaceAll('YOUR_KEY', key)
const grouped = (): SnippetInput => ({
  server,
  dataset: cities,
  query: {
    attributes: ['country', 'count(*) as cities'],
    where: { name: { $notLike: '%\'quoted"%' }, capital: false, population: { $gte: 1_000_000 } },
    group: ['country'],
    order: ['-cities', 'country'],
    limit: 2,
  },
  parameters: {},
})
const withParameters = (): SnippetInput => ({
  server,
  dataset: large,
  query: { order: ['-population'], limit: 1 },
  parameters: { least: '1000000', pattern: "S% o'a?&" },
})

async function curl(asked: SnippetInput): Promise<unknown> {
  const { stdout } = await run('sh', ['-c', withKey(write('curl', asked))])
  return JSON.parse(stdout)
}

test('the curl command answers the query, whatever characters it has', async () => {
  const rows = (await curl(grouped())) as { country: string; cities: number }[]
  assert.equal(rows.length, 2)
  assert.ok((rows[0]?.cities ?? 0) > 20)
  assert.deepEqual(await curl(withParameters()), [])
})

test('the program for the client prints the same rows', async () => {
  await writeFile(
    join(directory, 'rows.ts'),
    withKey(write('client', grouped())).replace('console.log(rows)', 'console.log(JSON.stringify(rows))'),
  )
  const { stdout } = await run(process.execPath, ['--conditions=graticule-source', 'rows.ts'], { cwd: directory })
  assert.deepEqual(JSON.parse(stdout), await curl(grouped()))
})

test('the Python program asks for the same rows, as features where there is a geometry', async (context) => {
  const hasRequests = await run('python3', ['-c', 'import requests']).then(
    () => true,
    () => false,
  )
  if (!hasRequests) return context.skip('needs Python with requests')
  const printed = async (asked: SnippetInput) => {
    await writeFile(join(directory, 'rows.py'), withKey(write('python', asked)))
    return (await run('python3', ['rows.py'], { cwd: directory })).stdout.trim()
  }
  assert.equal(await printed(grouped()), pythonLiteral(await curl(grouped())).replaceAll('"', "'"))
  const query = { where: { capital: true, country: { $in: ['Finland', 'Norway', 'Nowhere'] } }, order: ['name'] }
  assert.equal(await printed({ ...grouped(), query }), "['Helsinki', 'Oslo']")
})

test('the address for QGIS is the same query by GET, and a file where GET cannot ask it', async () => {
  const query = { attributes: ['name', 'geom'], where: { country: 'Italy' }, order: ['-population'], limit: 2 }
  const asked = { ...grouped(), query }
  const text = write('qgis', asked)
  assert.ok(text.includes(simpleAddress(asked, 'geojson')))
  const answer = await fetch(withKey(simpleAddress(asked, 'geojson')))
  const { features } = (await answer.json()) as { features: { properties: { name: string } }[] }
  assert.equal(features[0]?.properties.name, 'Rome')
  assert.match(write('qgis', grouped()), /-o rows\.csv/)
})

test('a page for MapLibre is made only of rows with a geometry, and cannot be broken out of', () => {
  assert.match(write('maplibre', grouped()), /have no geometry/)
  const page = write('maplibre', { ...grouped(), query: { where: { name: '</script><b>' } } })
  assert.ok(!page.includes('</script><b>'))
  assert.equal(geometryIn({ dataset: cities, query: {} }), 'geom')
  assert.equal(geometryIn({ dataset: cities, query: { attributes: ['name'] } }), undefined)
})

test('no snippet holds anything but the placeholder for a key', () => {
  for (const { write: text } of snippetKinds) assert.ok(!text(grouped()).includes(key))
})

test('text is quoted for the shell and for Python', () => {
  assert.equal(shellQuoted("it's"), `'it'\\''s'`)
  assert.equal(pythonLiteral({ a: [true, null, 'x"'] }), '{"a": [True, None, "x\\""]}')
})
