// The schemas of queries: their parameters, and the body of the advanced form.
import Type from 'typebox'
import { freeObject, maxAddressText, nameList } from '../../../api/http/input/bounded-schemas.ts'
import { offsetParameter } from '../../../api/http/offset-parameter.ts'
import { answerFormat, formatNames } from '../../../query/formats/answer-formats.ts'
import {
  aggregateParameter,
  cursorParameter,
  filterLanguageParameter,
  filterParameter,
  timeoutParameter,
  timeParameter,
  valueParameter,
  zoomParameter,
} from './query-parameters.ts'

const names = (description: string) => Type.Optional(nameList(description))
const limits = {
  limit: Type.Optional(Type.Integer({ minimum: 0 })),
  offset: offsetParameter('To go further, page by `cursor` (keyset paging), which costs the same for every page.'),
}
export const formatsWithSrid = formatNames.filter((name) => answerFormat(name).hasSrid).join(', ')
const answerParameters = {
  format: Type.Optional(Type.Enum([...formatNames], { description: 'What the answer is; Accept is asked otherwise' })),
  explain: Type.Optional(Type.Boolean({ description: 'Answer how the query would be carried out, instead of rows' })),
  timeout: timeoutParameter,
  filename: Type.Optional(Type.String({ maxLength: 255, description: 'Makes the answer a download of this name' })),
  count: Type.Optional(
    Type.String({
      maxLength: maxAddressText,
      description:
        '`exact` or `estimated`: X-Total-Count says how many rows there are without limit and offset, and Link where the other pages are. A dataset’s own parameter of this name comes first',
    }),
  ),
  cursor: cursorParameter,
  srid: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 999_999, description: `Of geometries in ${formatsWithSrid}; 4326 otherwise` }),
  ),
}
export const simpleSchema = Type.Object({
  ...answerParameters,
  attributes: names('The attributes to return, or aggregates of them'),
  filter: filterParameter,
  'filter-lang': filterLanguageParameter,
  time: timeParameter,
  aggregate: aggregateParameter,
  value: valueParameter,
  zoom: zoomParameter,
  sort: names('The attributes to sort by; `-` in front sorts downwards'),
  ...limits,
})
export const advancedSchema = Type.Object(answerParameters)
export const bodySchema = Type.Object(
  {
    attributes: names('The attributes to return, or aggregates such as `sum(pop) as total`'),
    where: Type.Optional(freeObject('bodyBytes')),
    time: timeParameter,
    aggregate: aggregateParameter,
    value: valueParameter,
    zoom: zoomParameter,
    order: names('The attributes to sort by; `-` in front sorts downwards'),
    group: names('The attributes to group by'),
    sample: Type.Optional(
      Type.Object(
        {
          percentage: Type.Number(),
          method: Type.Optional(Type.String({ maxLength: 40 })),
          seed: Type.Optional(Type.Number()),
        },
        { additionalProperties: false },
      ),
    ),
    ...limits,
    cursor: cursorParameter,
    distinct: names('DISTINCT ON these attributes'),
    nearest: Type.Optional(
      Type.Object(
        {
          attribute: Type.Optional(Type.String({ maxLength: 1_000, description: 'The geometry; the first otherwise' })),
          point: Type.Optional(Type.Array(Type.Number(), { minItems: 2, maxItems: 2 })),
          geometry: Type.Optional(freeObject('bodyBytes')),
          as: Type.Optional(Type.String({ maxLength: 63, default: 'distance' })),
        },
        {
          additionalProperties: false,
          description:
            'Nearest to a point [longitude, latitude] or GeoJSON geometry first, with the distance in metres as a column. Add $dwithin to where: it says how far to look, and uses the index.',
        },
      ),
    ),
  },
  {
    additionalProperties: false,
    examples: [{ attributes: ['count(*) as rows'], where: {}, order: [], limit: 10, offset: 0 }],
  },
)
