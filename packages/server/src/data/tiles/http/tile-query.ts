// The query parameters of tiles, and of documents that describe them.
import Type, { type Static } from 'typebox'
import { nameList } from '../../../api/http/input/bounded-schemas.ts'
import type { QueryTree } from '../../../api/http/input/query-string.ts'
import {
  aggregateParameter,
  filterLanguageParameter,
  filterParameter,
  requestedFilter,
  timeParameter,
  valueParameter,
} from '../../datasets/queries/query-parameters.ts'
import { cacheParameters, type TileParameters } from './tile-request.ts'

const described = {
  attributes: Type.Optional(nameList('The attributes that the features have')),
  filter: filterParameter,
  'filter-lang': filterLanguageParameter,
  time: timeParameter,
  aggregate: aggregateParameter,
  value: valueParameter,
  limit: Type.Optional(Type.Integer({ minimum: 0, description: 'At most so many features' })),
  ...cacheParameters,
}
export const describedQuery = Type.Object(described)

export const tileQuery = Type.Object({
  explain: Type.Optional(Type.Boolean({ description: 'Answer how the tile is made, instead of the tile' })),
  ...described,
})

/** Without undefined values, so that an omitted parameter does not count as given. A dataset's own parameters come first. */
export function tileParameters(
  query: Omit<Static<typeof describedQuery>, 'filter'> & { readonly filter?: unknown },
  tree: QueryTree,
  own: ReadonlySet<string> | undefined,
): TileParameters {
  const { attributes, limit } = query
  const unlessOwn = <Name extends keyof typeof query>(name: Name) => (own?.has(name) ? undefined : query[name])
  const [time, aggregate, value] = [unlessOwn('time'), unlessOwn('aggregate'), unlessOwn('value')]
  const { where, filterLanguage } = requestedFilter(query, tree)
  return {
    ...(attributes !== undefined && { attributes }),
    ...(where !== undefined && { filter: where }),
    ...(filterLanguage !== undefined && { 'filter-lang': filterLanguage }),
    ...(time !== undefined && { time }),
    ...(aggregate !== undefined && { aggregate }),
    ...(value !== undefined && { value }),
    ...(limit !== undefined && { limit }),
  }
}
