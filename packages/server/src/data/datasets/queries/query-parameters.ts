import Type from 'typebox'
import { freeObject, maxAddressText, nameList } from '../../../api/http/input/bounded-schemas.ts'
import { type QueryTree, textBeside } from '../../../api/http/input/query-string.ts'
import { limits } from '../../../kernel/limits/limits.ts'
import { filterLanguages } from '../../../query/filter/filter-language.ts'

const defaultTimeoutMs = 30_000
export const maxTimeoutMs = limits.queryTimeoutMs.value

/** Parameters shared by several operations on the rows of a dataset. */
export const filterParameter = Type.Optional(
  freeObject('urlBytes', {
    [textBeside]: 'filter-lang',
    description:
      'Conditions on attributes, such as (for the sample dataset) `filter[country]=Finland`, ' +
      '`filter[population][$gte]=1000000`, `filter[name][$iLike]=san%`, ' +
      'or the JSON text of them: `filter={"geom":{"$bbox":[-10,35,30,60]}}`, ' +
      '`filter={"$or":[{"capital":true},{"population":{"$gte":5000000}}]}`',
  }),
)

export const filterLanguageParameter = Type.Optional(
  Type.String({
    maxLength: 40,
    description:
      `The language of \`filter\`, if it is not the one above: ${filterLanguages.map((name) => `\`${name}\``).join(' or ')}, such as ` +
      "`filter-lang=cql2-text&filter=population > 1000000 AND name LIKE 'San%'`. Geometries are in longitude and latitude.",
  }),
)

export const timeParameter = Type.Optional(
  Type.String({
    maxLength: maxAddressText,
    description:
      'Rows whose time meets this year, month, day, hour or instant, or the period between two of them: `2024`, `2024-03`, `2024-01/2024-03`, ' +
      '`2024-03-31T12:00:00Z/..`. A year, month, day or hour counts as a whole; without a zone times are in UTC. `metadata.time` of the dataset names the attribute, ' +
      'or two as `{start, end}`; it may be left out where there is only one date or datetime. A dataset’s own parameter of this name comes first',
  }),
)

export const aggregateParameter = Type.Optional(
  Type.String({
    maxLength: maxAddressText,
    description:
      'Counts the rows by cell: `h3:auto` or `h3:0` to `h3:15` (hexagons of H3), `grid:auto` or `grid:0` to `grid:26` (squares of the web mercator grid of that level) ' +
      'or `cluster` (points that stand for all around). `auto` and clusters depend on the zoom. A dataset’s own parameter of this name comes first',
  }),
)

export const valueParameter = Type.Optional(
  nameList(
    'With `aggregate`: what is told of each cell beside `count`: `sum(x)`, `avg(x)`, `min(x)` or `max(x)` of a numeric attribute, as `avg_x`. A dataset’s own parameter of this name comes first',
    { maxItems: 20 },
  ),
)

export const zoomParameter = Type.Optional(
  Type.Number({
    minimum: 0,
    maximum: 30,
    description: 'With `aggregate`: the zoom of a map that `auto` and clusters are made for',
  }),
)

type FilterParameters = { readonly filter?: unknown; readonly 'filter-lang'?: string | undefined }

/** The filter of a query string: in a language of its own it is text, which no schema has read. */
export function requestedFilter({ filter, 'filter-lang': filterLanguage }: FilterParameters, tree: QueryTree) {
  return { where: filterLanguage === undefined ? filter : tree.filter, filterLanguage }
}

/** A cursor holds the last row's values, so it may be long in a body. */
const maxCursor = 100_000

export const cursorParameter = Type.Optional(
  Type.String({
    maxLength: maxCursor,
    description:
      'Continues behind the rows of a page: the `cursor` of its `Link` with rel="next". Empty for the first page. ' +
      'Needs a dataset with a primary key and a limit of at most 1000, which is its default. ' +
      'A dataset’s own parameter of this name comes first',
  }),
)

export const timeoutParameter = Type.Optional(
  Type.Integer({ minimum: 1, description: `In milliseconds; ${maxTimeoutMs} at most` }),
)

export const timeoutOf = (ms: number | undefined): number => Math.min(ms ?? defaultTimeoutMs, maxTimeoutMs)
