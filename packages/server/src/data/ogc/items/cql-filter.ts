// The `filter` parameter: CQL2 as text or JSON, parsed into the filter tree that all queries share.

import { type Cql2Options, parseCql2Json, parseCql2Text } from '../../../query/filter/cql2/parse.ts'
import type { Filter } from '../../../query/filter/filter-tree.ts'
import type { Attributes } from '../../../query/values/attribute.ts'
import { crs84, type DefinedCrs } from '../collections/crs.ts'

/** `cql-text` is GDAL's name, which writes filters that CQL2 text includes. */
export const filterLanguages = ['cql2-text', 'cql2-json', 'cql-text'] as const

export type FilterLanguage = (typeof filterLanguages)[number]

/** `crs` is the reference system of the filter's geometries; CRS84 if undefined. */
export function readFilter(
  text: string,
  language: FilterLanguage | undefined,
  attributes: Attributes,
  crs: DefinedCrs | undefined,
): Filter {
  const options: Cql2Options = { path: 'query/filter', ...(crs && crs.uri !== crs84.uri && systemOf(crs)) }
  return language === 'cql2-json' ? parseCql2Json(text, attributes, options) : parseCql2Text(text, attributes, options)
}

const systemOf = ({ srid, definition, swapsAxes }: DefinedCrs): Omit<Cql2Options, 'path'> => ({
  filterSrid: srid,
  filterCrs: { definitions: { [srid]: definition }, isNorthingFirst: swapsAxes },
})
