import assert from 'node:assert/strict'
import { test } from 'node:test'
import { npmBom, shippedBom } from './sbom.ts'
import { root, shippedPackages } from './shipped-packages.ts'

test('the bill of materials lists what is shipped and nothing else, without a time, a path or the name of a folder', () => {
  const raw = npmBom()
  const bom = shippedBom(raw)
  const listed = bom.components.map(({ name, version }) => `${name}@${version}`)
  const shipped = shippedPackages().map(({ name, version }) => `${name}@${version}`)
  assert.deepEqual(new Set(shipped.filter((one) => !listed.includes(one))), new Set())
  assert.deepEqual(
    listed.filter((one) => !shipped.includes(one) && !one.startsWith('@graticule/')),
    [],
  )
  const text = JSON.stringify(bom)
  assert.ok(!text.includes(root))
  assert.ok(!text.includes('"timestamp"'))
  // Another time, another folder: the same document.
  const { metadata } = raw
  const elsewhere = { ...metadata, timestamp: 'later', component: { ...metadata.component, name: 'elsewhere' } }
  const again = shippedBom({ ...raw, serialNumber: 'urn:uuid:other', metadata: elsewhere })
  assert.equal(JSON.stringify(again), text)
  assert.match(bom.serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})
