import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { type OgcWorld, ogcWorld } from '../../../testing/ogc-world.ts'

// Clients as people use them: each is asked for the same things.

let world: OgcWorld
let folder: string
before(async () => {
  ;[world, folder] = await Promise.all([ogcWorld(), mkdtemp(join(tmpdir(), 'ogc-clients-'))])
})
after(async () => {
  await rm(folder, { recursive: true, force: true })
  await world.close()
})

/** Debian's Python has what Debian's packages bring. */
const python = '/usr/bin/python3'
const hasModule = (name: string): boolean => spawnSync(python, ['-c', `import ${name}`]).status === 0

const run = async (command: string, args: readonly string[], env: Record<string, string> = {}) => {
  const options = { cwd: folder, env: { ...process.env, HOME: folder, ...env }, timeout: 120_000 }
  const { stdout, stderr } = await promisify(execFile)(command, args, options)
  return `${stdout}${stderr}`
}

describe('GDAL', () => {
  const keyed = () => ({ GDAL_HTTP_HEADERS: `x-api-key: ${world.own.public}` })
  const source = () => `OAPIF:${world.root}`

  test('lists the collections, with a key by header, Basic or query', async () => {
    for (const [address, args, env] of [
      [source(), [], keyed()],
      [source(), ['-oo', `USERPWD=:${world.own.public}`], {}],
      [`${source()}?api-key=${world.own.public}`, [], {}],
    ] as const) {
      const text = await run('ogrinfo', ['-ro', ...args, address], env)
      assert.match(text, /cities \(title: cities\) \(Point\)/)
      assert.match(text, /zones \(title: zones\) \(Multi Polygon\)/)
    }
  })

  test('copies a collection page by page', async () => {
    const args = ['-oo', 'PAGE_SIZE=7', '-f', 'CSV', 'cities.csv', source(), 'cities', '-lco', 'GEOMETRY=AS_XY']
    await run('ogr2ogr', args, keyed())
    const text = await run('ogrinfo', ['-so', '-al', 'cities.csv'])
    assert.match(text, /Feature Count: 40/)
  })

  test('lets the server filter by attributes and by place', async () => {
    const where = "name ILIKE 'su%' AND pop > 1000"
    const text = await run('ogrinfo', ['-ro', '--debug', 'on', source(), 'cities', '-where', where], keyed())
    assert.match(text, /filter=.*filter-lang=cql-text/)
    assert.match(text, /Feature Count: 1\n/)
    assert.match(text, /name \(String\) = Suva/)
    const place = await run('ogrinfo', ['-ro', source(), 'cities', '-spat', '7', '50', '13', '56'], keyed())
    assert.match(place, /København/)
    assert.doesNotMatch(place, /Suva/)
    const one = await run('ogrinfo', ['-ro', '-q', source(), 'cities', '-fid', '3'], keyed())
    assert.match(one, /Apia/)
  })
})

const owslib = `
import sys
from owslib.ogcapi.features import Features
root, key = sys.argv[1:]
features = Features(root, headers={'x-api-key': key})
assert 'cities' in features.feature_collections()
assert features.api()['openapi'].startswith('3.0')
page = features.collection_items('cities', limit=3)
assert page['numberMatched'] == 40 and page['numberReturned'] == 3
assert features.collection_items('cities', bbox=[7, 50, 13, 56])['numberReturned'] == 3
assert features.collection_items('cities', name='Suva')['features'][0]['id'] == 2
assert features.collection_item('cities', '2')['properties']['name'] == 'Suva'
assert 'pop' in features.collection_queryables('cities')['properties']
print('all good')
`

test('OWSLib lists, pages, filters and reads features', async (t) => {
  if (!hasModule('owslib')) return t.skip('OWSLib is not installed')
  assert.match(await run(python, ['-c', owslib, world.root, world.own.public]), /all good/)
})

const qgis = `
import sys
from qgis.core import *
root, key = sys.argv[1:]
application = QgsApplication([], False)
application.initQgis()
layer = QgsVectorLayer(f" typename='cities' url='{root}?api-key={key}' pageSize='7'", 'cities', 'OAPIF')
assert layer.isValid(), layer.error().message()
assert layer.featureCount() == 40, layer.featureCount()
assert 'pop' in [field.name() for field in layer.fields()]
assert sum(1 for _ in layer.getFeatures()) == 40
def names(request): return sorted(feature['name'] for feature in layer.getFeatures(request))
assert names(QgsFeatureRequest().setFilterExpression("\\"name\\" = 'Suva'")) == ['Suva']
assert names(QgsFeatureRequest().setFilterRect(QgsRectangle(7, 50, 13, 56))) == ['Bonn', 'København']
# What a click with the identify tool does.
near = QgsGeometry.fromPointXY(QgsPointXY(178.44, -18.14)).buffer(0.1, 8).boundingBox()
assert names(QgsFeatureRequest().setFilterRect(near)) == ['Suva']
print('all good', flush=True)
del layer
application.exitQgis()
`

test('QGIS loads, pages, filters and identifies', async (t) => {
  if (!hasModule('qgis.core')) return t.skip('QGIS is not installed')
  const env = { QT_QPA_PLATFORM: 'offscreen', XDG_RUNTIME_DIR: folder }
  assert.match(await run(python, ['-c', qgis, world.root, world.own.public], env), /all good/)
})
