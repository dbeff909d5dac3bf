import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { describeConfig } from '../src/kernel/settings/config.ts'

// The examples of packaging/ name settings, addresses and users: they must be those of this version.

const root = resolve(import.meta.dirname, '../../..')
const read = (path: string): string => readFileSync(resolve(root, path), 'utf8')
const found = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, name = '']) => name)

const settings = new Set(found(describeConfig(), /^ {2}([A-Z][A-Z0-9_]+) /gm))
/** Variables of other programs. */
const foreign = new Set(['MALLOC_ARENA_MAX', 'PATH', 'POSTGRES_USER', 'POSTGRES_PASSWORD', 'POSTGRES_DB'])

const kubernetes = read('packaging/kubernetes.yaml')

test('every setting that the examples give exists', () => {
  const named = {
    kubernetes: found(kubernetes, /^ {2}([A-Z][A-Z0-9_]+): /gm),
    compose: found(read('packaging/compose.yaml'), /^ {4}(?:# )?([A-Z][A-Z0-9_]+): /gm),
    unit: found(read('packaging/graticule.service'), /\b([A-Z][A-Z0-9_]+)=/g).filter((name) => name.includes('_')),
    image: found(/^ENV (.*)$/m.exec(read('Dockerfile'))?.[1] ?? '', /(?:^| )([A-Z][A-Z0-9_]+)=/g),
  }
  for (const [file, names] of Object.entries(named)) {
    assert.ok(names.length >= 2, file)
    const unknown = names.filter((name) => !settings.has(name) && !foreign.has(name))
    assert.deepEqual(unknown, [], file)
  }
})

test('every path that probes ask for is an operation', () => {
  const { paths } = JSON.parse(read('openapi.json'))
  const probed = [
    ...found(kubernetes, /httpGet: \{ path: ([^,]+),/g),
    ...found(read('Dockerfile'), /(\/api\/v1\/\w+)/g),
    ...found(read('docs/scale.md'), /`(?:GET )?(\/api\/v1\/\w+)`/g),
  ]
  assert.ok(probed.length >= 4)
  assert.deepEqual(
    probed.filter((path) => !(path in paths)),
    [],
  )
})

test('the connections of the most replicas are those that the Kubernetes example counts', () => {
  const number = (pattern: RegExp): number => Number(pattern.exec(kubernetes)?.[1])
  const each = 10 + number(/TENANT_CONNECTIONS: "(\d+)"/) + number(/TILE_CONNECTIONS: "(\d+)"/)
  assert.equal(number(/maxReplicas: (\d+)/) * each + 10, number(/= (\d+) connections of PostgreSQL/))
})

test('the image and its pods run as the same user without rights, and nothing gets into it that is not named', () => {
  const user = /^USER (\d+):\d+$/m.exec(read('Dockerfile'))?.[1]
  assert.ok(user)
  assert.deepEqual(new Set(found(kubernetes, /runAsUser: (\d+)/g)), new Set([user]))
  const [first] = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  assert.equal(first, '*')
})
