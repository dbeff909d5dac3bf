import Type from 'typebox'
import { freeObject } from '../../../api/http/input/bounded-schemas.ts'
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
