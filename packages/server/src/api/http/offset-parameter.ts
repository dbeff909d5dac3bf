import Type from 'typebox'
import { limits } from '../../kernel/limits/limits.ts'

const most = limits.offset.value

/**
 * The query parameter `offset`. The database reads and drops every row that it skips, so it has a limit; `instead` says
 * how to go on behind it.
 */
export const offsetParameter = (instead = '') =>
  Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: most,
      description: `How many to skip, ${most} at most. ${instead}`.trimEnd(),
      'x-limit': { name: 'offset', instead },
    }),
  )

/** Where a list has no cursor: keyset paging by a filter. */
export const byFilter =
  'To go further, sort by a field and filter by its last value (keyset paging): sort=createdAt&filter[createdAt][$gte]=…'
