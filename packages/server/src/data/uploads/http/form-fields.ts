// The form of an upload: schema and parser.
import Type from 'typebox'
import { isUuid } from '../../../api/access/credentials.ts'
import { boundedBy, uuidText } from '../../../api/http/input/bounded-schemas.ts'
import { invalid } from '../../../kernel/errors.ts'
import { unknownName } from '../../../kernel/nearest-name.ts'
import { columnTypes, dateOrders, decimalMarks, type TableColumnType } from '../readers/table-rules.ts'
import { encodingNamed, publicEncoding } from '../readers/text/code-pages.ts'
import type { UploadFormFields } from '../record/upload.ts'

const largestSrid = 998_999

const srid = (description: string) =>
  Type.Optional(
    Type.Union(
      [
        Type.Integer({ minimum: 1, maximum: largestSrid }),
        Type.String({ maxLength: 100, examples: ['EPSG:3067', 'urn:ogc:def:crs:EPSG::3067'] }),
      ],
      { description },
    ),
  )

/** The form, as OpenAPI describes it. */
export const formSchema = Type.Object(
  {
    file: Type.Unsafe<string>({ type: 'string', format: 'binary', ...boundedBy('uploadBytes') }),
    encoding: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'Of the text in a Shapefile, CSV or JSON, whatever the file says; such as windows-1251',
      }),
    ),
    datasetId: Type.Optional(uuidText({ description: 'The dataset that gets these data instead of its own' })),
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'Of the dataset; else that of the file, or of the layer where there are several',
      }),
    ),
    description: Type.Optional(Type.String({ maxLength: 10_000 })),
    attribution: Type.Optional(Type.String({ maxLength: 2_000, description: 'Shown on maps' })),
    sourceSrid: srid('The reference system of the coordinates, whatever the file says: 3067, EPSG:3067 or its URN'),
    targetSrid: srid('The reference system of the table; 4326 unless given'),
    layer: Type.Optional(Type.String({ maxLength: 255, description: 'Only this one of several' })),
    geometry: Type.Optional(
      Type.String({
        maxLength: 1_000,
        description:
          'Of a table: none; a column of geometries or of pairs (`where`, `where:lat,lon`); two columns, longitude or easting first (`lon,lat`); or the sides of a box (`west,south,east,north`). Of other formats: none',
        examples: ['lon,lat', 'latlng:lat,lon', 'none'],
      }),
    ),
    types: Type.Optional(
      Type.Record(Type.String({ maxLength: 1_000 }), Type.Enum([...columnTypes]), {
        maxProperties: 1_000,
        description: 'Of columns of a table, as JSON: the others are found by their values',
        examples: [{ plz: 'string', seen: 'date' }],
      }),
    ),
    dateOrder: Type.Optional(Type.Enum([...dateOrders], { description: 'Of dates such as 01.02.2024 in a table' })),
    decimal: Type.Optional(Type.Enum([...decimalMarks], { description: 'What stands before decimals in a table' })),
    nulls: Type.Optional(
      Type.Array(Type.String({ maxLength: 255 }), {
        maxItems: 100,
        description: 'Values of a table that stand for nothing; as JSON, or divided by commas',
        examples: [['NULL', '-9999']],
      }),
    ),
    header: Type.Optional(
      Type.Boolean({
        description:
          'Whether the first row of a CSV or a sheet, below titles, names the columns; else its values tell it',
      }),
    ),
    strict: Type.Optional(
      Type.Boolean({
        description: 'Fail at the first row that cannot be loaded, instead of skipping up to 1 % of them',
      }),
    ),
  },
  { title: 'UploadForm', additionalProperties: false },
)

const fieldNames = Object.keys(formSchema.properties)

const lengths: Record<string, readonly [least: number, most: number]> = {
  name: [1, 255],
  description: [0, 10_000],
  attribution: [0, 2_000],
  layer: [0, 255],
  geometry: [1, 1_000],
}

/** Parses the fields besides the file. An empty field counts as absent. */
export function readFormFields(fields: Readonly<Record<string, string>>): UploadFormFields {
  const read: Record<string, unknown> = {}
  for (const [name, text] of Object.entries(fields)) {
    if (!Object.hasOwn(formSchema.properties, name) || name === 'file') {
      throw invalid(
        `body/${name.slice(0, 100)}`,
        name === 'file' ? 'must be a file, not text' : unknownName('a field of the form', name, fieldNames),
      )
    }
    if (text !== '') read[name] = readField(name, text)
  }
  return read
}

function readField(name: string, text: string): unknown {
  if (text.includes('\0') || !text.isWellFormed()) throw invalid(`body/${name}`, 'must be valid Unicode without NUL')
  if (name === 'datasetId') {
    if (!isUuid(text)) throw invalid('body/datasetId', 'must be a UUID')
    return text.toLowerCase()
  }
  if (name === 'encoding') return readEncoding(text)
  if (name === 'strict' || name === 'header') return readBoolean(name, text)
  if (name === 'types') return readTypes(text)
  if (name === 'nulls') return readNulls(text)
  if (name === 'dateOrder') return readChoice(name, text.toLowerCase(), dateOrders)
  if (name === 'decimal') return readChoice(name, text, decimalMarks)
  const bounds = lengths[name]
  if (!bounds) return readSrid(name, text)
  if (text.length > bounds[1]) throw invalid(`body/${name}`, `must not be longer than ${bounds[1]} characters`)
  return text
}

function readChoice(name: string, text: string, choices: readonly string[]): string {
  if (choices.includes(text)) return text
  throw invalid(`body/${name}`, `must be ${choices.map((choice) => JSON.stringify(choice)).join(' or ')}`)
}

function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalid(`body/${name}`, 'must be valid JSON')
  }
}

/** Names that other parts of the API, databases and spreadsheets have for the same types. */
const otherNames: Readonly<Record<string, TableColumnType>> = {
  text: 'string',
  varchar: 'string',
  int: 'integer',
  bigint: 'integer',
  float: 'number',
  double: 'number',
  decimal: 'number',
  numeric: 'number',
  bool: 'boolean',
  timestamp: 'datetime',
  timestamptz: 'datetime',
  jsonb: 'json',
}

const maxTypes = 1_000

function readTypes(text: string): Record<string, TableColumnType> {
  const value = parseJson('types', text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('body/types', 'must be an object of JSON with the types of columns, such as {"plz": "string"}')
  }
  const entries = Object.entries(value)
  if (entries.length > maxTypes) throw invalid('body/types', `must not name more than ${maxTypes} columns`)
  return Object.fromEntries(entries.map(([column, type]) => [column, readType(column, type)]))
}

function readType(column: string, given: unknown): TableColumnType {
  const name = String(given).toLowerCase()
  const type =
    columnTypes.find((one) => one === name) ?? (Object.hasOwn(otherNames, name) ? otherNames[name] : undefined)
  if (type) return type
  throw invalid(
    `body/types/${column.slice(0, 100)}`,
    unknownName('a type of columns', String(given).slice(0, 40), columnTypes),
  )
}

const maxNulls = 100

/** A list of JSON, or texts with commas between them. */
function readNulls(text: string): string[] {
  const value = text.trimStart().startsWith('[') ? parseJson('nulls', text) : text.split(',')
  const isList = Array.isArray(value) && value.every((one) => typeof one === 'string' && one.length <= 255)
  if (!isList || value.length > maxNulls) {
    throw invalid('body/nulls', `must be at most ${maxNulls} texts, such as ["NULL", "-9999"]`)
  }
  return value
}

const encodingExamples =
  'UTF-8, windows-1252, windows-1250, windows-1251, ISO-8859-2, CP437, CP850, Shift_JIS, GBK, Big5'

function readEncoding(text: string): string {
  const encoding = encodingNamed(text)
  if (encoding !== undefined) return publicEncoding(encoding)
  const shown = JSON.stringify(text.slice(0, 40))
  throw invalid('body/encoding', `${shown} is not a known encoding. Examples: ${encodingExamples}.`)
}

function readBoolean(name: string, text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  throw invalid(`body/${name}`, 'must be true or false')
}

/** A number, `EPSG:3067`, or its OGC URN or URL. */
const sridText =
  /^\s*(?:EPSG\s*:\s*|urn:(?:x-)?ogc:def:crs:EPSG:[\d.]*:|https?:\/\/www\.opengis\.net\/def\/crs\/EPSG\/[\d.]+\/)?(\d{1,6})\s*$/i

function readSrid(name: string, text: string): number {
  const srid = Number(sridText.exec(text)?.[1] ?? 0)
  if (srid >= 1 && srid <= largestSrid) return srid
  const shown = JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
  throw invalid(
    `body/${name}`,
    `${shown} is not a reference system. Write its EPSG number, such as 3067, EPSG:3067 or urn:ogc:def:crs:EPSG::3067.`,
  )
}
