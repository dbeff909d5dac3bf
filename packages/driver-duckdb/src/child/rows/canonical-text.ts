import { type DuckDBType, DuckDBTypeId } from '@duckdb/node-api'
import { doubleText, floatText, isExactDouble } from './number-text.ts'

/** How a value of each type becomes canonical text: partly in SQL, where the text is exact, partly here. */
export type Conversion = {
  /** SQL of the value → SQL of what is fetched. */
  readonly sql?: (value: string) => string
  /** What was fetched → text. */
  readonly text?: (value: unknown) => string
}

const asText = (value: string): string => `${value}::VARCHAR`
const asJson = (value: string): string => `to_json(${value})::VARCHAR`

const integer: Conversion = { text: String }
const written: Conversion = { sql: asText }
const datetime: Conversion = { sql: asText, text: (value) => isoText(value as string) }
const document: Conversion = { sql: asJson, text: (value) => withoutBareNumbers(value as string) }

const conversions: { readonly [id in DuckDBTypeId]?: Conversion } = {
  [DuckDBTypeId.BOOLEAN]: { text: String },
  [DuckDBTypeId.TINYINT]: integer,
  [DuckDBTypeId.SMALLINT]: integer,
  [DuckDBTypeId.INTEGER]: integer,
  [DuckDBTypeId.BIGINT]: integer,
  [DuckDBTypeId.UTINYINT]: integer,
  [DuckDBTypeId.USMALLINT]: integer,
  [DuckDBTypeId.UINTEGER]: integer,
  [DuckDBTypeId.UBIGINT]: integer,
  [DuckDBTypeId.HUGEINT]: integer,
  [DuckDBTypeId.UHUGEINT]: integer,
  [DuckDBTypeId.FLOAT]: { text: (value) => floatText(value as number) },
  [DuckDBTypeId.DOUBLE]: { text: (value) => doubleText(value as number) },
  [DuckDBTypeId.VARCHAR]: {},
  [DuckDBTypeId.DATE]: { sql: asText, text: (value) => yearsText(value as string) },
  [DuckDBTypeId.TIMESTAMP]: datetime,
  [DuckDBTypeId.TIMESTAMP_S]: datetime,
  [DuckDBTypeId.TIMESTAMP_MS]: datetime,
  [DuckDBTypeId.TIMESTAMP_NS]: datetime,
  [DuckDBTypeId.TIMESTAMP_TZ]: datetime,
  [DuckDBTypeId.BLOB]: { sql: (value) => `base64(${value})` },
  [DuckDBTypeId.GEOMETRY]: { sql: (value) => `hex(ST_AsWKB(${value}))` },
  [DuckDBTypeId.STRUCT]: document,
  [DuckDBTypeId.MAP]: document,
  [DuckDBTypeId.UNION]: document,
  [DuckDBTypeId.VARIANT]: document,
}

export function conversionOf(type: DuckDBType): Conversion {
  if (type.typeId === DuckDBTypeId.VARCHAR && type.alias === 'JSON') return written
  if (type.typeId === DuckDBTypeId.LIST || type.typeId === DuckDBTypeId.ARRAY) return listConversion(type.valueType)
  return conversions[type.typeId] ?? written
}

const itemTexts: { readonly [id in DuckDBTypeId]?: (item: string) => string } = {
  [DuckDBTypeId.FLOAT]: (item) => numberItem(floatText(Math.fround(Number(item)))),
  [DuckDBTypeId.DOUBLE]: (item) => numberItem(doubleText(Number(item))),
  [DuckDBTypeId.DECIMAL]: numberItem,
  [DuckDBTypeId.BIGINT]: numberItem,
  [DuckDBTypeId.UBIGINT]: numberItem,
  [DuckDBTypeId.HUGEINT]: numberItem,
  [DuckDBTypeId.UHUGEINT]: numberItem,
}

const datetimes: ReadonlySet<DuckDBTypeId> = new Set([
  DuckDBTypeId.TIMESTAMP,
  DuckDBTypeId.TIMESTAMP_S,
  DuckDBTypeId.TIMESTAMP_MS,
  DuckDBTypeId.TIMESTAMP_NS,
  DuckDBTypeId.TIMESTAMP_TZ,
])

/** The items of a JSON list, each as it would be outside of one; what no double holds goes in quotes. */
function listConversion({ typeId }: DuckDBType): Conversion {
  if (typeId === DuckDBTypeId.BLOB) return { sql: (value) => asJson(`list_transform(${value}, lambda b: base64(b))`) }
  if (datetimes.has(typeId)) {
    return { sql: asJson, text: (list) => (list as string).replace(/"([^"]+)"/g, (_, text) => `"${isoText(text)}"`) }
  }
  const itemText = itemTexts[typeId]
  if (!itemText) return document
  return { sql: asJson, text: (list) => (list as string).replace(/-?(?:\d[\d.e+-]*|NaN|Infinity)/gi, itemText) }
}

function numberItem(text: string): string {
  return isExactDouble(text) ? text : `"${text}"`
}

/** `2026-01-31 10:00:00.5+00` → `2026-01-31T10:00:00.5Z`; infinity stays as it is. */
function isoText(text: string): string {
  const years = yearsText(text)
  if (!/^\d{4,}-\d\d-\d\d /.test(years) || years.endsWith(' BC')) return years
  return years.replace(' ', 'T').replace(/\+00$/, 'Z')
}

/** `0044-03-15 (BC) 10:00:00` → `0044-03-15 10:00:00 BC` */
function yearsText(text: string): string {
  return text.includes(' (BC)') ? `${text.replace(' (BC)', '')} BC` : text
}

/** DuckDB writes NaN and Infinity into JSON as they are, which no reader of JSON takes. */
function withoutBareNumbers(json: string): string {
  if (!/NaN|Infinity/.test(json)) return json
  return json.replace(/"(?:[^"\\]|\\.)*"|-?(?:NaN|Infinity)/g, (part) => (part.startsWith('"') ? part : `"${part}"`))
}
