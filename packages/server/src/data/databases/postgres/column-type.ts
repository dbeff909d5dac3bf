// What the names of PostgreSQL's types mean to queries.
import { type AttributeType, type ColumnTraits, type ColumnType, valueTypeOf } from '../../../query/values/attribute.ts'

const byName: Record<string, AttributeType> = {
  boolean: 'boolean',
  smallint: 'integer',
  integer: 'integer',
  bigint: 'integer',
  oid: 'integer',
  real: 'number',
  'double precision': 'number',
  numeric: 'number',
  date: 'date',
  'timestamp without time zone': 'datetime',
  'timestamp with time zone': 'datetime',
  'time without time zone': 'time',
  'time with time zone': 'time',
  uuid: 'uuid',
  json: 'json',
  jsonb: 'json',
  bytea: 'binary',
  geometry: 'geometry',
  geography: 'geometry',
}

/** `character varying(20)[]` → array. Unknown types become text, because PostgreSQL can print any value as text. */
export function typeOfColumn(dbType: string): AttributeType {
  if (dbType.endsWith('[]')) return 'array'
  const bare = dbType.replace(/\([^)]*\)/, '').replace(/^public\./, '')
  return Object.hasOwn(byName, bare) ? (byName[bare] ?? 'string') : 'string'
}

export function columnTraits(column: ColumnType): ColumnTraits {
  const { type } = column
  const dbType = valueTypeOf(column)
  if (type === 'geometry') return geometryTraits(column)
  if (type === 'array') return arrayTraits(dbType.replace(/(\[\])+$/, ''))
  if (type === 'string') return stringTraits(dbType)
  if (dbType === 'bytea' || dbType === 'jsonb') return { isOrdered: true }
  if (/^timestamp(\(\d\))? without/.test(dbType)) return { withoutZone: true }
  if (dbType === 'real') return { sqlType: 'float4' }
  return isZonedTime(dbType) ? { sqlType: 'timetz', isNative: true } : {}
}

const isZonedTime = (dbType: string): boolean => /^time(\(\d\))? with time zone$/.test(dbType)

/** Types that have no equality, no order, or none that takes the text of a value. */
const printed = new Set([
  ...['point', 'line', 'lseg', 'box', 'path', 'polygon', 'circle', 'box2d', 'box3d', 'raster', 'record'],
  ...[
    'xml',
    'xid',
    'cid',
    'jsonpath',
    'refcursor',
    'aclitem',
    'pg_snapshot',
    'txid_snapshot',
    'int2vector',
    'pg_node_tree',
  ],
  ...['regclass', 'regcollation', 'regconfig', 'regdictionary', 'regnamespace', 'regoper', 'regoperator'],
  ...['regproc', 'regprocedure', 'regrole', 'regtype', 'lquery', 'ltxtquery', 'query_int'],
])

/** What queries take for strings but PostgreSQL does not. Rows of web services have no type of a database. */
function stringTraits(dbType: string): ColumnTraits {
  if (dbType === '' || dbType === 'name') return {}
  if (/^(text|character varying(\(\d+\))?)$/.test(dbType)) return { isText: true }
  if (/^(character(\(\d+\))?|bpchar)$/.test(dbType)) return { sqlType: 'bpchar' }
  const bare = bareName(dbType)
  if (printed.has(bare)) return { isPrinted: true }
  return { isNative: true, ...(bare === 'citext' && { hasOwnLike: true }) }
}

/** `public.citext` → citext, `interval(3)` → interval */
const bareName = (dbType: string): string => dbType.replace(/\([^)]*\)/, '').replace(/^.*\./, '')

const textItems = /^(text|character varying|character|bpchar|name)(\(\d+\))?$/

function arrayTraits(itemName: string): ColumnTraits {
  const itemType = typeOfColumn(itemName)
  const isOrdered = !(
    itemName === '' ||
    itemName === 'json' ||
    itemType === 'geometry' ||
    printed.has(bareName(itemName))
  )
  const isNumeric = /^numeric(\(|$)/.test(itemName)
  const isNative = isOrdered && (itemType === 'string' ? !textItems.test(itemName) : isNumeric || isZonedTime(itemName))
  return { itemType, ...(isOrdered && { isOrdered }), ...(isNative && { isNative }) }
}

function geometryTraits(column: ColumnType): ColumnTraits {
  const { srid } = column
  const dbType = valueTypeOf(column)
  const isVarying = /^(public\.)?geometry/.test(dbType) && !/,\d+\)$/.test(dbType)
  const isRingless = /\((Multi)?(Point|LineString)Z?M?[,)]/.test(dbType)
  return {
    ...(dbType.startsWith('geography') && { geography: true }),
    ...(isVarying && { isVarying }),
    ...(isVarying && srid && { mixed: true }),
    ...(/\(MultiPointZ?M?[,)]/.test(dbType) && { isMultiPoint: true }),
    ...(isRingless && { ringless: true }),
    ...(/\((Multi)?PolygonZ?M?[,)]/.test(dbType) && { isAreal: true }),
  }
}
