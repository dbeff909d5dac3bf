import type { DuckDBConnection } from '@duckdb/node-api'
import type { Box, Covering, DuckdbColumn, GeometryFact } from '../messages.ts'
import type { FolderFile } from './folder.ts'
import {
  checkGeoColumns,
  type GeoColumn,
  kindOf,
  readGeoMetadata,
  type SchemaColumn,
  systemOfColumn,
} from './geo-metadata.ts'
import { geoarrowSql, isGeoarrow } from './geoarrow.ts'
import { systemOf } from './reference-system.ts'
import { rowsOf } from './rows/rows.ts'
import { quotedName, quotedText } from './sql/sql-text.ts'
import { columnsOf, type FileFacts, UnusableFile, withPosition } from './table-facts.ts'

/** Parquet and GeoParquet: rows, extents and reference systems by the footer alone. */

type SchemaRow = {
  readonly name: string
  readonly type: string | null
  readonly logical: string | null
  readonly converted: string | null
}

export async function describeParquet(connection: DuckDBConnection, file: FolderFile): Promise<FileFacts> {
  const path = quotedText(file.path)
  // With it, DuckDB refuses the whole file in words of its own before its metadata can be looked at.
  await connection.run('SET enable_geoparquet_conversion = false')
  const { rows, schema, geo } = await footerOf(connection, path)
  await connection.run('SET enable_geoparquet_conversion = true')
  checkGeoColumns(geo, schema.map(shapeOf))
  const select = await selectOf(connection, `FROM read_parquet(${path})`, geo)
  const columns: DuckdbColumn[] = []
  for (const column of await columnsOf(connection, select)) {
    columns.push(await located(connection, path, column, geo.get(column.name), schema))
  }
  const positions = withPosition(select, 'file_row_number', columns)
  return { tables: [{ name: file.name, rows, columns, select, ...(positions && { selectPositions: positions }) }] }
}

async function footerOf(connection: DuckDBConnection, path: string) {
  const [counted] = await rowsOf<{ rows: bigint }>(
    connection,
    `SELECT num_rows AS rows FROM parquet_file_metadata(${path})`,
  )
  const schema = await rowsOf<SchemaRow>(
    connection,
    `SELECT name, type, logical_type AS logical, converted_type AS converted FROM parquet_schema(${path})`,
  )
  return { rows: Number(counted?.rows ?? 0n), schema, geo: await geoColumns(connection, path) }
}

const shapeOf = ({ name, type, logical, converted }: SchemaRow): SchemaColumn => ({
  name,
  type,
  isText: converted !== null || /^(String|Enum|JSON|BSON|UUID)/i.test(logical ?? ''),
})

async function geoColumns(connection: DuckDBConnection, path: string): Promise<ReadonlyMap<string, GeoColumn>> {
  const keys = await rowsOf<{ text: string | null }>(
    connection,
    `SELECT TRY(decode(value)) AS text FROM parquet_kv_metadata(${path}) WHERE key = 'geo'::BLOB`,
  )
  const [key] = keys
  if (!key) return new Map()
  const columns = readGeoMetadata(key.text ?? '')
  if (!columns) throw new UnusableFile('Its GeoParquet metadata (the key "geo") is no JSON object with columns.')
  return columns
}

async function selectOf(
  connection: DuckDBConnection,
  from: string,
  geo: ReadonlyMap<string, GeoColumn>,
): Promise<string> {
  const replaced: string[] = []
  for (const [column, { encoding }] of geo) {
    if (!isGeoarrow(encoding)) continue
    const sql = await geoarrowSql(connection, { from, column, encoding })
    if (!sql) throw new UnusableFile(`The column "${column}" is called ${encoding} but has another form.`)
    replaced.push(`${sql} AS ${quotedName(column)}`)
  }
  return `SELECT *${replaced.length > 0 ? ` REPLACE (${replaced.join(', ')})` : ''} ${from}`
}

async function located(
  connection: DuckDBConnection,
  path: string,
  column: DuckdbColumn,
  metadata: GeoColumn | undefined,
  schema: readonly SchemaRow[],
): Promise<DuckdbColumn> {
  if (!column.geometry) return column
  const native = schema.find(({ name }) => name === column.name)?.logical ?? ''
  const system = metadata ? systemOfColumn(metadata) : nativeSystem(native)
  const boxes =
    metadata?.fact.extent && metadata.fact.type !== 'Geometry' ? {} : await nativeFacts(connection, path, column.name)
  const covering = metadata?.fact.covering
  const isCovered = covering && !metadata?.fact.extent && !boxes.extent
  const geometry: GeometryFact = {
    ...column.geometry,
    ...(isCovered && (await coveringExtent(connection, path, covering))),
    ...boxes,
    ...metadata?.fact,
    ...system,
    ...(/^Geography/i.test(native) && { edges: 'spherical' }),
    ...(/^Geo(metry|graphy)/i.test(native) && { hasGroupBoxes: true }),
  }
  const name =
    geometry.system ?? (geometry.srid === 0 ? '' : geometry.srid === 4326 ? 'OGC:CRS84' : `EPSG:${geometry.srid}`)
  return { ...column, dbType: name ? `GEOMETRY(${name})` : 'GEOMETRY', geometry }
}

/** `GeometryType(crs=EPSG:25832)`; without one it is longitude and latitude, as Parquet says. */
function nativeSystem(logical: string): Pick<GeometryFact, 'srid' | 'system'> {
  if (!/^Geo(metry|graphy)/i.test(logical)) return { srid: 0 }
  const [, crs] = /crs=(\{[\s\S]*\}|[^,)]*)/.exec(logical) ?? []
  return systemOf(crs === undefined || crs === '' || crs === '<null>' ? 'OGC:CRS84' : crs)
}

type BoxRow = { readonly [edge in 'xmin' | 'ymin' | 'xmax' | 'ymax']: number | null } & {
  readonly types: string[] | null
}

/** The statistics of the row groups, which files with Parquet's own geometry type have. */
async function nativeFacts(
  connection: DuckDBConnection,
  path: string,
  column: string,
): Promise<Partial<Pick<GeometryFact, 'extent' | 'type' | 'dimension'>>> {
  const [row] = await rowsOf<BoxRow>(
    connection,
    `SELECT min(geo_bbox.xmin) AS xmin, min(geo_bbox.ymin) AS ymin, max(geo_bbox.xmax) AS xmax, max(geo_bbox.ymax) AS ymax,
       list_distinct(flatten(list(geo_types))) AS types
     FROM parquet_metadata(${path}) WHERE path_in_schema = ${quotedText(column)} AND geo_bbox IS NOT NULL`,
  )
  const box = [row?.xmin, row?.ymin, row?.xmax, row?.ymax]
  if (!box.every((edge) => typeof edge === 'number' && Number.isFinite(edge))) return {}
  return { extent: box as unknown as Box, ...kindOf((row?.types ?? []).map(typeName)) }
}

type Edges = { readonly [edge in 'xmin' | 'ymin' | 'xmax' | 'ymax']: number | null }

/** By the statistics of the columns that hold the boxes of rows, if every row group has them. */
async function coveringExtent(
  connection: DuckDBConnection,
  path: string,
  { xmin, ymin, xmax, ymax }: Covering,
): Promise<Pick<GeometryFact, 'extent'>> {
  const edge = (least: 'min' | 'max', column: readonly string[]): string => {
    const value = `TRY_CAST(stats_${least}_value AS DOUBLE)`
    const isThere = `path_in_schema = ${quotedText(column.join(', '))} AND num_values > coalesce(stats_null_count, 0)`
    return `CASE WHEN bool_and(${value} IS NOT NULL) FILTER (${isThere}) THEN ${least}(${value}) FILTER (${isThere}) END`
  }
  const [row] = await rowsOf<Edges>(
    connection,
    `SELECT ${edge('min', xmin)} AS xmin, ${edge('min', ymin)} AS ymin, ${edge('max', xmax)} AS xmax, ${edge('max', ymax)} AS ymax
     FROM parquet_metadata(${path})`,
  )
  const box = [row?.xmin, row?.ymin, row?.xmax, row?.ymax]
  return box.every((side) => typeof side === 'number' && Number.isFinite(side)) ? { extent: box as unknown as Box } : {}
}

const typeNames: { readonly [name: string]: string } = {
  point: 'Point',
  linestring: 'LineString',
  polygon: 'Polygon',
  multipoint: 'MultiPoint',
  multilinestring: 'MultiLineString',
  multipolygon: 'MultiPolygon',
  geometrycollection: 'GeometryCollection',
}

/** `point_z` → `Point Z` */
function typeName(geoType: string): string {
  const [kind = '', axes = ''] = geoType.split('_')
  return `${typeNames[kind] ?? 'Geometry'}${axes && ` ${axes.toUpperCase()}`}`
}
