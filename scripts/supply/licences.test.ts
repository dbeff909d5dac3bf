import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { licencesPage, refusal } from './licences.ts'
import { root, shippedPackages } from './shipped-packages.ts'

const packages = shippedPackages()

test('every package that is shipped has a licence that is allowed', () => {
  const reasons = packages.map(refusal).filter((reason) => reason !== undefined)
  assert.deepEqual(reasons, [])
})

test('a licence that asks for more, or none at all, is refused', () => {
  for (const license of [
    'GPL-3.0-only',
    'AGPL-3.0',
    'MIT AND GPL-2.0-only',
    'SEE LICENSE IN file',
    '',
    'LGPL-2.1-or-later',
  ]) {
    assert.ok(refusal({ name: 'a', license }), license)
  }
  for (const license of ['MIT', '(MIT OR GPL-2.0-only)', 'MIT AND Zlib']) {
    assert.equal(refusal({ name: 'a', license }), undefined, license)
  }
})

test('what is shipped is what the server installs and the console is built from, no tools', () => {
  const asOf = (name: string) => packages.find((one) => one.name === name)?.as
  assert.equal(asOf('fastify'), 'installed')
  assert.equal(asOf('react-dom'), 'bundled')
  assert.equal(asOf('@lezer/lr'), 'bundled')
  for (const tool of ['typescript', 'vite', 'axe-core', 'playwright-core', 'fontnik'])
    assert.equal(asOf(tool), undefined, tool)
})

test('LICENSES.md is what npm run licences writes', () => {
  const stored = readFileSync(resolve(root, 'LICENSES.md'), 'utf8')
  assert.ok(stored === licencesPage(packages), 'LICENSES.md is stale: npm run licences')
})
