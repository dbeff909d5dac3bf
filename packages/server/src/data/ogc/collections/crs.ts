// Reference systems by reference (OGC API Features, Part 2): their identifiers, and which of them there are.
import type { Db } from '../../../kernel/db/db.ts'
import { sql } from '../../../kernel/db/sql.ts'
import { invalid } from '../../../kernel/errors.ts'
import { isNorthFirst } from './axis-order.ts'

/** `swapsAxes`: positions are written with the second axis of PostGIS, y, first. */
export type Crs = {
  readonly uri: string
  readonly srid: number
  readonly swapsAxes: boolean
}

/** `definition` is its PROJ text, for what is projected outside of the database. */
export type DefinedCrs = Crs & { readonly definition: string }

const wgs84 = '+proj=longlat +datum=WGS84 +no_defs'

const opengis = 'http://www.opengis.net/def/crs'

export const crs84: Crs = { uri: `${opengis}/OGC/1.3/CRS84`, srid: 4326, swapsAxes: false }

export const epsg = (srid: number): Crs => ({ uri: `${opengis}/EPSG/0/${srid}`, srid, swapsAxes: isNorthFirst(srid) })

/** A table in 4326 has longitudes first, so it is stored in CRS84. */
export const storageCrs = (srid: number | undefined): Crs => (!srid || srid === 4326 ? crs84 : epsg(srid))

/** The URI, the URN and the short form `EPSG:4326`, also in brackets. */
const forms = [
  /^https?:\/\/www\.opengis\.net\/def\/crs\/(OGC|EPSG)\/[\w.]+\/(\w+)$/i,
  /^urn:ogc:def:crs:(OGC|EPSG):[\w.]*:(\w+)$/i,
  /^\[?(OGC|EPSG):(\w+)\]?$/i,
]

/** Reads an identifier; undefined if it is none, or one that no EPSG code can be. */
export function parseCrs(text: string): Crs | undefined {
  const [, authority = '', code = ''] = forms.map((form) => form.exec(text)).find((match) => match) ?? []
  if (authority.toUpperCase() === 'OGC') return /^CRS84h?$/i.test(code) ? crs84 : undefined
  return /^\d{1,6}$/.test(code) ? epsg(Number(code)) : undefined
}

/** Reads the identifier of a reference system that PostGIS knows, or throws a 400. */
export type ReadCrs = (text: string, path: string) => Promise<DefinedCrs>

export function createReadCrs(db: Pick<Db, 'query'>): ReadCrs {
  const uris = new Map<number, string | undefined>([[4326, wgs84]])
  return async (text, path) => {
    const crs = parseCrs(text)
    if (!crs) throw unknown(text, path)
    if (!uris.has(crs.srid)) uris.set(crs.srid, await definitionOf(db, crs.srid))
    const definition = uris.get(crs.srid)
    if (definition === undefined) throw unknown(text, path)
    return { ...crs, definition }
  }
}

async function definitionOf(db: Pick<Db, 'query'>, srid: number): Promise<string | undefined> {
  const [row] = await db.query<{ definition: string }>(
    sql`SELECT proj4text AS definition FROM public.spatial_ref_sys WHERE srid = ${srid}::int4 AND auth_name = 'EPSG'`,
  )
  return row?.definition
}

const unknown = (text: string, path: string) =>
  invalid(path, `must be a reference system such as ${crs84.uri} or ${epsg(3857).uri}, not "${text.slice(0, 80)}"`)
