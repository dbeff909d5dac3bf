// One word for each thing: exported types of a package never share a name, and the words that the dictionary gave up do not come back.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '../../..')

/** The folders whose exported types are one vocabulary. */
const packages = [
  ...['agent', 'client', 'console', 'driver-duckdb', 'map', 'server'].map(
    (name) => `packages/${name}/{src,testing,system-tests}`,
  ),
  'scripts',
  'bench',
  'faults',
]

/** Words that the dictionary replaced, as a part of an exported name or of a file's name. */
const givenUp: Readonly<Record<string, string>> = {
  foreign: 'external (a database that a tenant connected), untrusted (input), unsupported (a format)',
  elsewhere: 'external',
  ours: 'trusted, or platform',
  place: 'JsonPath, Slot, ServerKey, LogPosition, Location',
  places: 'paths, slots, locations',
  binding: 'webhook',
  bindings: 'webhooks',
  sending: 'outbox',
  figures: 'metrics',
  means: 'context',
  surroundings: 'context',
  given: 'input, parameters, request',
  asked: 'request',
  told: 'the name of the thing',
}

/** A type of only these words says what happened to a thing, but not what it is. */
const participles = new Set(
  `Answered Asked Begun Built Claimed Detected Dropped Expected Found Given Heard Held Judged Known Loaded Made Named Opened Placed
  Presented Published Read Recorded Rendered Replaced Seen Sent Served Shipped Shown Staged Started Stopped Stored Told Uploaded Used
  Wanted Watched Written Preparing Removing Running Sending Selecting`.split(/\s+/),
)

/** Names that keep such a word, and why. */
const exceptions: Readonly<Record<string, string>> = {
  isForeignKeyViolation: "SQL's word",
  createPlaces: 'points of interest in a test',
  storePlaces: 'points of interest in a test',
  placesTable: 'points of interest in a test',
  placesAnswer: 'points of interest in a test',
  'spatial-places.ts': 'points of interest in a test',
  putInPlace: 'to put a table in place of another',
  Sending: 'bytes of an upload on their way',
}

/** Words that names keep, because users read them: paths of the API are `/contactpoints/{id}/bindings` and `/places`. */
const keptIn: Readonly<Record<string, readonly string[]>> = {
  'packages/client/src/': ['place', 'places'],
  'packages/map/src/controls/place-search': ['place'],
  'packages/map/src/map-client.ts': ['place'],
  'packages/map/src/react/react.ts': ['place'],
  'packages/server/src/tenants/cartography/places/': ['place', 'places'],
  'packages/server/src/boot/open/open-maps.ts': ['places'],
  'packages/client/': ['binding', 'bindings'],
  'packages/console/': ['binding', 'bindings'],
}

/** Of the public API of a package, whose names users have in their code. */
const publicTypes = new Set(['Selecting'])

const wordsOf = (name: string): string[] =>
  name
    .replace(/\.(test\.)?tsx?$/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[\s.-]+/)
    .map((word) => word.toLowerCase())

function forbiddenIn(file: string, name: string): string[] {
  if (Object.hasOwn(exceptions, name)) return []
  const kept = Object.entries(keptIn).flatMap(([folder, words]) => (file.startsWith(folder) ? words : []))
  return wordsOf(name).filter((word) => Object.hasOwn(givenUp, word) && !kept.includes(word))
}

type Export = { readonly kind: 'type' | 'value'; readonly name: string }

const exportsOf = (source: string): Export[] =>
  [
    ...source.matchAll(
      /^export (?:declare )?(?:abstract )?(?:async )?(type|interface|class|const|let|function\*?) (\w+)/gm,
    ),
  ].map(([, keyword = '', name = '']) => ({ kind: /^(type|interface|class)$/.test(keyword) ? 'type' : 'value', name }))

type Source = { readonly file: string; readonly text: string }

const sourcesIn = (folder: string): Source[] =>
  globSync(`${folder}/**/*.{ts,tsx}`, {
    cwd: root,
    exclude: (path) => path.includes('node_modules') || path.endsWith('/dist'),
  }).map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))

function sharedTypes(sources: readonly Source[]): string[] {
  const filesOf = new Map<string, Set<string>>()
  for (const { file, text } of sources)
    for (const { kind, name } of exportsOf(text))
      if (kind === 'type') filesOf.set(name, (filesOf.get(name) ?? new Set()).add(file))
  return [...filesOf].filter(([, files]) => files.size > 1).map(([name, files]) => `${name}: ${[...files].join(', ')}`)
}

const forbidden = (sources: readonly Source[]): string[] =>
  sources.flatMap(({ file, text }) => {
    const names = [basename(file), ...exportsOf(text).map(({ name }) => name)]
    const bare = exportsOf(text).filter(
      ({ kind, name }) => kind === 'type' && participles.has(name) && !publicTypes.has(name),
    )
    return [
      ...names.flatMap((name) => forbiddenIn(file, name).map((word) => `${file}: ${name}: say ${givenUp[word]}`)),
      ...bare.map(({ name }) => `${file}: ${name} is a participle; name the thing`),
    ]
  })

/** Packages whose types stand side by side in the same files. */
const usedTogether = 'packages/{client,console,map}/src'

test(`no two exported types of ${usedTogether} share a name`, () => {
  const sources = sourcesIn(usedTogether)
  assert.ok(sources.length > 300)
  assert.deepEqual(sharedTypes(sources), [])
})

for (const folder of packages) {
  test(`no two exported types of ${folder} share a name`, () => {
    const sources = sourcesIn(folder)
    assert.ok(sources.length > 5)
    assert.deepEqual(sharedTypes(sources), [])
  })

  test(`no exported name and no file name of ${folder} has a word that the dictionary gave up`, () => {
    assert.deepEqual(forbidden(sourcesIn(folder)), [])
  })
}

test('a shared type, a word given up and a bare participle are found in each form that a declaration has', () => {
  const declared = (text: string): Source[] => [
    { file: 'a.ts', text },
    { file: 'b.ts', text: 'export interface Tile { z: number }' },
  ]
  assert.equal(sharedTypes(declared('export type Tile = string')).length, 1)
  assert.equal(sharedTypes(declared('export class Tile {}')).length, 1)
  assert.equal(sharedTypes(declared('type Tile = string')).length, 0)
  assert.equal(forbidden([{ file: 'tiles/foreign-table.ts', text: '' }]).length, 1)
  for (const name of [
    'ForeignTable',
    'GridPlace',
    'Bindings2Places',
    'GivenRow',
    'Asked',
    'Told',
    'RowMeans',
    'Replaced',
  ])
    assert.ok(forbidden([{ file: 'a.ts', text: `export type ${name} = string` }]).length > 0, name)
  for (const name of ['placeOf', 'foreignFault', 'runElsewhere', 'explainOurs'])
    assert.equal(forbidden([{ file: 'a.ts', text: `export async function ${name}() {}` }]).length, 1, name)
  for (const name of ['Replacement', 'Placement', 'placeholderOf', 'unknownName', 'Meaning', 'StoredEntity'])
    assert.deepEqual(forbidden([{ file: 'a.ts', text: `export const ${name} = 1` }]), [], name)
})

test('every exception is still needed', () => {
  const names = packages
    .flatMap(sourcesIn)
    .flatMap(({ file, text }) => [basename(file), ...exportsOf(text).map(({ name }) => name)])
  assert.deepEqual(
    Object.keys(exceptions).filter((name) => !names.includes(name)),
    [],
  )
})
