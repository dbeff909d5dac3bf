// The query parameters of tiles, and of documents that describe them.
import Type, { type Static } from 'typebox'
import { nameList } from '../../../api/http/input/bounded-schemas.ts'
import type { QueryTree } from '../../../api/http/input/query-string.ts'
import { filterLanguageParameter, filterParameter, requestedFilter } from '../../datasets/queries/query-parameters.ts'
import { cacheParameters, type TileParameters } from './tile-request.ts'

const described = {
  attributes: Type.Optional(nameList('The attributes that the features have')),
  filter: filterParameter,
  'filter-lang': filterLanguageParameter,
  limit: Type.Optional(Type.Integer({ minimum: 0, description: 'At most so many features' })),
  ...cacheParameters,
}
export const describedQuery = Type.Object(described)

export const tileQuery = Type.Object({
  explain: Type.Optional(Type.Boolean({ description: 'Answer how the tile is made, instead of the tile' })),
  ...described,
})

/** Without undefined values, so that an omitted parameter does not count as given. */
export function tileParameters(query: Static<typeof tileQuery>, tree: QueryTree): TileParameters {
  const { attributes, limit } = query
  const { where, filterLanguage } = requestedFilter(query, tree)
  return {
    ...(attributes !== undefined && { attributes }),
    ...(where !== undefined && { filter: where }),
    ...(filterLanguage !== undefined && { 'filter-lang': filterLanguage }),
    ...(limit !== undefined && { limit }),
  }
}
