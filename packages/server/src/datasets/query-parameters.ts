import Type from 'typebox'

const defaultTimeoutMs = 30_000
export const maxTimeoutMs = 300_000

/** Parameters that more than one operation on the rows of a dataset takes. */
export const filterParameter = Type.Optional(
  Type.Object(
    {},
    {
      description:
        'Conditions on attributes, such as (for the sample dataset) `filter[country]=Finland`, ' +
        '`filter[population][$gte]=1000000`, `filter[name][$iLike]=san%`, ' +
        'or the JSON text of them: `filter={"geom":{"$bbox":[-10,35,30,60]}}`, ' +
        '`filter={"$or":[{"capital":true},{"population":{"$gte":5000000}}]}`',
    },
  ),
)

export const timeoutParameter = Type.Optional(
  Type.Integer({ minimum: 1, description: `In milliseconds; ${maxTimeoutMs} at most` }),
)

export const timeoutOf = (asked: number | undefined): number => Math.min(asked ?? defaultTimeoutMs, maxTimeoutMs)
