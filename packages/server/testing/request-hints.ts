import type { Entry, Fields } from './api-document.ts'
import type { Draft } from './draft.ts'

/** What the document cannot tell of an operation. Most need none of it. */
export type Hint = {
  /** The ids of the operations that it is for. */
  readonly operations: RegExp
  /** Members that fit together: most bodies have one of these sets. `undefined` takes a member away. */
  readonly bodies?: readonly Readonly<Record<string, unknown>>[]
  /** The fields of forms; `file` is sent as a file. */
  readonly forms?: readonly Readonly<Record<string, string>>[]
  /** What a parameter of this name, in the path or the query, can be. */
  readonly parameters?: Readonly<Record<string, readonly string[]>>
  /** Headers that it always gets. */
  readonly headers?: Readonly<Record<string, string>>
  /** The fields of what is answered. */
  readonly record?: Fields
  /** The requests never to send, because they would spoil all that come after. */
  avoids?(draft: Draft): boolean
}

/** Not among the databases that requests change: what is stored without a database, or in this one, can be reached. */
const homeDatabase = '~databases.home~'

/** A worker answers for this one. */
const servedAgent = '~agents.own.0~'

/** The table, the query and the web service of the datasets have these. */
const places: Fields = {
  id: { type: 'integer' },
  name: { type: 'string' },
  seen: { type: 'string', format: 'date-time' },
  geom: { format: 'geometry' },
}
/** In the schema of every tenant; the name is that of all its places. */
export const placesTable = (schema: string, name: string): string => `
  CREATE TABLE ${schema}.places (id int PRIMARY KEY, name text, seen timestamptz, geom geometry(Point, 4326));
  INSERT INTO ${schema}.places
    SELECT n, '${name}', timestamptz '2026-01-01Z' + n * interval '1 day', ST_Point(n, n, 4326) FROM generate_series(1, 20) n;
  GRANT SELECT ON ${schema}.places TO ${schema}`
/** What the web service answers. */
export const placesAnswer = JSON.stringify(
  [1, 2, 3].map((n) => ({
    id: n,
    name: 'Rest',
    seen: `2026-01-0${n}T00:00:00Z`,
    geom: { type: 'Point', coordinates: [n, n] },
  })),
)

const whole = { where: undefined, order: undefined, group: undefined, sample: undefined, distinct: undefined }

const unsaid = {
  message: undefined,
  body: undefined,
  text: undefined,
  subject: undefined,
  to: undefined,
  url: undefined,
}

/** Somebody whom no other request changes. */
const person = { email: '~person.email~', applicationId: '~applications.own~' }

const hints: readonly Hint[] = [
  {
    operations: /^users\.(create|replace|patch)$/,
    // Hashing is slow on purpose.
    bodies: [{ email: '~fresh~@example.org', password: undefined }],
  },
  { operations: /^(users\.me|auth\.(logout|changepassword))$/, headers: { authorization: 'Bearer ~person.token~' } },
  { operations: /^auth\.login$/, bodies: [{ ...person, password: '~person.password~' }] },
  {
    operations: /^auth\.refresh$/,
    bodies: [{ refreshToken: '~person.refresh~', applicationId: person.applicationId }],
  },
  { operations: /^auth\.requestpasswordreset$/, bodies: [{ ...person, redirectUrl: 'http://localhost/reset' }] },
  { operations: /^auth\.signup$/, bodies: [{ email: '~invited.email~', applicationId: person.applicationId }] },
  { operations: /^maps\.style$/, parameters: { id: ['~styles.own.0~', '~styles.own.1~', '~styles.foreign.0~'] } },
  {
    operations: /^(tiles|basemap)\.(tile|describe|style)$/,
    parameters: {
      id: ['~datasets.own.0~', '~datasets.own.1~', '~datasets.foreign.0~'],
      z: ['0', '1', '2', '31'],
      x: ['0', '1', '2'],
      y: ['0', '1', '2'],
      ext: ['mvt', 'pbf', 'geojson', 'png'],
    },
  },
  {
    operations: /^fonts\.range$/,
    parameters: {
      fontstack: ['Noto Sans Regular', 'Noto Sans Bold,Nothing', 'Nothing'],
      range: ['0-255', '256-511', '1-2'],
    },
  },
  { operations: /^sprites\.file$/, parameters: { path: ['light.json', 'dark@2x.png', 'nothing.png'] } },
  { operations: /^docs\.asset$/, parameters: { file: ['start.js', 'swagger-ui.css', 'nothing.js'] } },
  { operations: /^home\.part$/, parameters: { file: ['start.js', 'home.css', 'nothing.js'] } },
  {
    operations: /^databases\.(create|replace|patch)$/,
    bodies: [
      { type: 'internal', password: 'a password' },
      { type: 'postgres', host: '127.0.0.1', port: 1, user: 'reader', password: 'a password', db: 'nowhere' },
    ],
    // A new database is changed by no other request, so that an internal one may become the default.
    avoids: ({ method, body }) =>
      isObject(body) && body.default === true && !(method === 'POST' && body.type === 'internal'),
  },
  {
    operations: /^datasets\.(create|replace|patch)$/,
    bodies: [
      { type: 'table', source: 'places' },
      { type: 'sql', source: 'SELECT id, name, seen, geom FROM places' },
      { type: 'rest', source: '~rest~/places' },
    ],
    // The others stay where they can be reached.
    avoids: ({ method, params: { id = '' }, body }) =>
      method !== 'POST' &&
      !id.includes('.spare.') &&
      isObject(body) &&
      body.databaseId !== undefined &&
      body.databaseId !== homeDatabase,
  },
  {
    operations: /^uploads\.create$/,
    // The data of datasets that others read stay as they are.
    forms: [
      { file: 'name,lon,lat\na,1,2\n', name: 'Sent' },
      { file: 'not a map', sourceSrid: '3857', layer: 'none' },
      { file: '{}', datasetId: '~datasets.foreign.0~' },
      { file: '{}', datasetId: 'nonsense' },
      { file: '', sourceSrid: '-1' },
      { file: 'a', unknown: 'field' },
      { name: 'Without a file' },
    ],
  },
  {
    operations: /^agents\.(replace|patch|delete)$/,
    // It is served, and stays as it is.
    avoids: ({ params: { id } }) => id === servedAgent,
  },
  { operations: /^agents\.(invoke|stream)$/, parameters: { id: [servedAgent, '~agents.own.1~'] } },
  { operations: /^agents\.cancel$/, parameters: { id: [servedAgent], invocationId: ['~invocation~', 'nonsense'] } },
  {
    operations: /^contactpoints\.(create|replace|patch)$/,
    bodies: [
      { type: 'webhook', settings: { url: '~rest~/hook' } },
      { type: 'slack', settings: { url: '~rest~/slack' } },
      { type: 'email', settings: { addresses: ['a@example.org'] } },
    ],
  },
  {
    operations: /^contactpoints\.send$/,
    bodies: [
      { ...unsaid, message: 'A message', title: 'A title', url: 'https://example.org/' },
      { ...unsaid, text: 'A message', data: { level: 7.2 } },
    ],
  },
  {
    operations: /^datasets\.(insertRows|row|changeRow|putRow|deleteRow|changeRows|deleteRows)$/,
    record: places,
    parameters: {
      id: ['~datasets.own.0~', '~datasets.own.1~', '~datasets.foreign.0~'],
      rowKey: ['1', '2', '3', '4', 'x', '-1'],
      filter: ['{"id":7}', '{"name":"nobody"}', '{'],
      expect: ['0', '1', '2'],
      onConflict: ['ignore', 'update'],
    },
    bodies: [{ name: 'Written' }, { seen: '2026-01-01T00:00:00Z' }, { id: 30, name: 'New' }],
  },
  {
    operations: /^datasets\.(addColumn|dropColumn)$/,
    // Columns that others read stay.
    parameters: { id: ['~datasets.own.0~', '~datasets.foreign.0~'], column: ['added', 'nmae'] },
    bodies: [
      {
        name: 'added',
        type: 'string',
        dbType: undefined,
        geometryType: undefined,
        srid: undefined,
        dimension: undefined,
        primaryKey: undefined,
        nullable: undefined,
        default: undefined,
      },
    ],
  },
  {
    operations: /^datasets\.statistics$/,
    record: places,
    parameters: { name: [...Object.keys(places), 'nmae', 'a/b'], timeout: ['1', '30000', '300001'] },
  },
  {
    operations: /^datasets\.query/,
    record: places,
    parameters: {
      srid: ['4326', '3857', '999999'],
      timeout: ['1', '30000', '60000', '300001'],
      cursor: ['', 'WzEsIngiLCJ4IiwieCIsMCxudWxsXQ'],
    },
    bodies: [
      { ...whole, attributes: ['count(*) as rows'] },
      { ...whole, attributes: ['name', 'max(seen) as last'], group: ['name'], order: ['-last'] },
      { ...whole, attributes: ['id', 'geom'], where: { id: { $gt: 1 } }, order: ['id'], limit: 5, offset: 0 },
      { ...whole, attributes: ['id'], where: { geom: { $bbox: [0, 0, 10, 10] } } },
      { ...whole, attributes: ['name'], distinct: ['name'], order: ['name'] },
    ],
  },
]

/** All that is known of an operation. */
export function hintFor({ operationId }: Pick<Entry, 'operationId'>): Partial<Hint> {
  return hints.find(({ operations }) => operations.test(operationId)) ?? {}
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
