// One word for each thing: exported types of a package never share a name, and words that the dictionary gave up do not come back.
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
  'packages/assets/build',
  'scripts',
  'bench',
  'faults',
]

/** A word that the dictionary gave up or keeps for another thing, in names of files, of types and of what a module declares. */
type ForbiddenWord = {
  readonly words: readonly string[]
  /** What the dictionary says instead. */
  readonly say: string
  /** Names that keep it, and why. */
  readonly except?: Readonly<Record<string, string>>
  /** Files or folders that keep it, and why. */
  readonly exceptIn?: Readonly<Record<string, string>>
  /** The folder in which it is another thing's; everywhere by default. */
  readonly onlyIn?: string
  /** It is wrong as a noun, not in the name of a boolean or of a value. */
  readonly isOfTypes?: boolean
}

const placesOfUsers = 'a town or a street: the word of the API, /places'
const bindingsOfUsers = 'the word of the API, /contactpoints/{id}/bindings'

const sqlWord = "SQL's word"
const notFound = "HTTP's words"

const forbiddenWords: readonly ForbiddenWord[] = [
  {
    words: ['foreign'],
    say: 'external (a database that a tenant connected), untrusted (input), unsupported (a format)',
    except: {
      isForeignKeyViolation: sqlWord,
      isForeignServerLost: sqlWord,
      foreignKeysOf: sqlWord,
      mostForeignMembers: "GeoJSON's word",
    },
  },
  { words: ['elsewhere'], say: 'external' },
  { words: ['ours'], say: 'trusted, or platform' },
  {
    words: ['own'],
    say: 'platform, or whose it is: tenant, server, caller, dataset',
    except: { ownParameters: 'what a dataset declares, beside the parameters of the API' },
  },
  {
    words: ['place', 'places'],
    say: 'JsonPath, Slot, ServerKey, LogPosition, Location, or position, index',
    except: {
      'spatial-places.ts': placesOfUsers,
      createPlaces: placesOfUsers,
      storePlaces: placesOfUsers,
      places: placesOfUsers,
      placesTable: placesOfUsers,
      placesAnswer: placesOfUsers,
      maxPlaces: placesOfUsers,
      putInPlace: 'to put a table in place of another',
    },
    exceptIn: {
      'packages/assets/build/gazetteer.ts': placesOfUsers,
      'packages/client/src/': placesOfUsers,
      'packages/map/src/controls/place-search': placesOfUsers,
      'packages/map/src/map-client.ts': placesOfUsers,
      'packages/map/src/react/react.ts': placesOfUsers,
      'packages/map/testing/page.ts': placesOfUsers,
      'packages/server/src/tenants/cartography/': placesOfUsers,
      'packages/server/src/boot/open/open-maps.ts': placesOfUsers,
    },
  },
  {
    words: ['binding', 'bindings'],
    say: 'webhook',
    exceptIn: { 'packages/client/': bindingsOfUsers, 'packages/console/': bindingsOfUsers },
  },
  { words: ['sending'], say: 'outbox', except: { Sending: 'bytes of an upload on their way' } },
  { words: ['figure', 'figures'], say: 'metrics' },
  { words: ['member', 'members'], say: 'worker process', onlyIn: 'packages/server/src/boot/' },
  { words: ['means', 'surroundings'], say: 'context' },
  { words: ['given'], say: 'input, parameters, request' },
  { words: ['asked'], say: 'request' },
  { words: ['told'], say: 'the name of the thing' },
  {
    words: ['found'],
    say: 'the name of the thing',
    except: {
      FoundPlaces: 'the public API of the client',
      FoundPlace: 'the public API of the map',
      NotFound: notFound,
      isNotFound: notFound,
      geometryNotFound: 'the code of the warning, geometry_not_found',
      'geometry-not-found.ts': 'the code of the warning, geometry_not_found',
      NothingFound: 'what a list shows',
      NothingFoundProps: 'what a list shows',
    },
  },
  { words: ['known'], say: 'the name of the thing, or cache', isOfTypes: true },
  {
    words: ['turns'],
    say: 'poll loop, queue',
    except: {
      maxTurns: 'of a conversation',
      recallTurns: 'of a conversation',
      turns: 'of the earth',
      mostTurns: 'of the earth',
      'fair-turns.test.ts': 'each tenant in turn',
    },
  },
]

/** A type of only these words says what happened to a thing, but not what it is. */
const participles = new Set(
  `Answered Asked Begun Built Claimed Detected Dropped Expected Found Given Heard Held Judged Known Loaded Made Named Opened Placed
  Presented Published Read Recorded Rendered Replaced Seen Sent Served Shipped Shown Staged Started Stopped Stored Told Uploaded Used
  Wanted Watched Written Preparing Removing Running Sending Selecting`.split(/\s+/),
)

/** Of the public API of a package, whose names users have in their code. */
const publicTypes = new Set(['Selecting'])

const wordsOf = (name: string): string[] =>
  name
    .replace(/\.(test\.)?tsx?$/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[\s.-]+/)
    .map((word) => word.toLowerCase())

const isExcepted = ({ except = {}, exceptIn = {} }: ForbiddenWord, file: string, name: string): boolean =>
  Object.hasOwn(except, name) || Object.keys(exceptIn).some((folder) => file.startsWith(folder))

type Declared = { readonly kind: 'type' | 'value'; readonly name: string; readonly isExported: boolean }

/** What a module declares, exported or not. */
const declaredIn = (source: string): Declared[] =>
  [
    ...source.matchAll(
      /^(export )?(?:declare )?(?:abstract )?(?:async )?(type|interface|class|const|let|function\*?) (\w+)/gm,
    ),
  ].map(([, exported, keyword = '', name = '']) => ({
    kind: /^(type|interface|class)$/.test(keyword) ? 'type' : 'value',
    name,
    isExported: exported !== undefined,
  }))

const exportsOf = (source: string): Declared[] => declaredIn(source).filter(({ isExported }) => isExported)

type Name = Pick<Declared, 'name'> & { readonly kind: Declared['kind'] | 'file' }

const isMeant = ({ onlyIn = '', isOfTypes }: ForbiddenWord, file: string, { kind }: Name): boolean =>
  file.startsWith(onlyIn) && (!isOfTypes || kind === 'type')

const forbiddenIn = (file: string, name: Name): ForbiddenWord[] =>
  forbiddenWords
    .filter(({ words }) => wordsOf(name.name).some((word) => words.includes(word)))
    .filter((forbidden) => isMeant(forbidden, file, name) && !isExcepted(forbidden, file, name.name))

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

/** Of a test only what others see: inside it speaks of its own scene. */
const namesIn = ({ file, text }: Source): Name[] => [
  { kind: 'file', name: basename(file) },
  ...(/\.test\.tsx?$/.test(file) ? exportsOf(text) : declaredIn(text)),
]

const isParticiple = ({ kind, name }: Name): boolean =>
  kind === 'type' && participles.has(name) && !publicTypes.has(name)

const forbidden = (sources: readonly Source[]): string[] =>
  sources.flatMap((source) =>
    namesIn(source).flatMap((name) => [
      ...forbiddenIn(source.file, name).map(({ say }) => `${source.file}: ${name.name}: say ${say}`),
      ...(isParticiple(name) ? [`${source.file}: ${name.name} is a participle; name the thing`] : []),
    ]),
  )

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

  test(`no name that a module of ${folder} declares, and no file name, has a word that the dictionary gave up`, () => {
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
    assert.equal(forbidden([{ file: 'a.ts', text: `async function ${name}() {}` }]).length, 1, name)
  assert.equal(forbidden([{ file: 'packages/server/src/boot/a.ts', text: 'const members = []' }]).length, 1)
  assert.equal(forbidden([{ file: 'packages/server/src/query/a.ts', text: 'const members = []' }]).length, 0)
  assert.equal(forbidden([{ file: 'a.ts', text: 'const knownNames = []' }]).length, 0)
  for (const name of ['Replacement', 'Placement', 'placeholderOf', 'unknownName', 'Meaning', 'StoredEntity'])
    assert.deepEqual(forbidden([{ file: 'a.ts', text: `export const ${name} = 1` }]), [], name)
})

test('every exception is still needed', () => {
  const named = packages
    .flatMap(sourcesIn)
    .flatMap((source) => namesIn(source).map(({ name }) => ({ file: source.file, name })))
  for (const { words, except = {}, exceptIn = {} } of forbiddenWords) {
    const kept = named.filter(({ name }) => wordsOf(name).some((word) => words.includes(word)))
    const isNeeded = (folder: string) => kept.some(({ file }) => file.startsWith(folder))
    assert.deepEqual(
      [
        ...Object.keys(except).filter((name) => !kept.some((one) => one.name === name)),
        ...Object.keys(exceptIn).filter((folder) => !isNeeded(folder)),
      ],
      [],
    )
  }
})
