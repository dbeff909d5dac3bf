import Type, { type Static } from 'typebox'
import { maxAddressText } from '../../../api/http/input/bounded-schemas.ts'
import { type Operation, operationUsing } from '../../../api/http/operation.ts'
import { invalid } from '../../../kernel/errors.ts'
import { limits, overLimit } from '../../../kernel/limits/limits.ts'
import type { Places } from './places.ts'

export type PlaceServices = { readonly places: Places }
const operation = operationUsing<PlaceServices>()

const degrees = Type.Number()
const nullable = <S extends Parameters<typeof Type.Union>[0][number]>(schema: S) => Type.Union([schema, Type.Null()])

const place = Type.Object({
  name: Type.String(),
  matched: nullable(Type.String({ description: 'Another name of it, if it was found by that' })),
  kind: Type.Enum(['country', 'region', 'city', 'address']),
  country: nullable(Type.String({ description: 'Its two-letter code' })),
  countryName: nullable(Type.String()),
  population: nullable(Type.Integer()),
  position: Type.Array(degrees, { minItems: 2, maxItems: 2, description: 'Longitude and latitude' }),
  bounds: nullable(Type.Array(degrees, { minItems: 4, maxItems: 4, description: 'West, south, east, north' })),
  zoom: Type.Number({ description: 'A zoom of maps that shows it' }),
  source: Type.Enum(['gazetteer', 'geocoder']),
})

const attribution = 'Places from GeoNames (CC BY 4.0) and Natural Earth'

const query = Type.Object({
  q: Type.String({
    minLength: 1,
    maxLength: maxAddressText,
    description: 'The beginning of a name, in any of its languages; a country may follow',
  }),
  near: Type.Optional(Type.String({ maxLength: 60, description: '`longitude,latitude`: places near it come first' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, default: 10, description: `At most ${limits.placesFound.value}` })),
})

export const placeOperations: readonly Operation<PlaceServices>[] = [
  operation({
    id: 'places.search',
    method: 'GET',
    path: '/api/v1/places',
    summary: 'Search for places by name',
    description:
      'The countries, regions and towns of the bundled base map, by the beginning of their names, without regard to case and accents; ' +
      'the larger ones first. With GEOCODER_URL, what that geocoder finds follows: addresses, for instance.',
    access: { class: 'styles', level: 'execute', id: () => undefined },
    query,
    success: {
      status: 200,
      description: 'The places found, the best first',
      schema: Type.Object({
        places: Type.Array(place),
        attribution: Type.String({ description: 'To be shown where the places are' }),
        isComplete: Type.Boolean({ description: 'False if the geocoder failed' }),
      }),
    },
    async handle({ services: { places }, signal }, { query: { q, near, limit = 10 } }) {
      checkLimits(q, limit)
      const found = await places.search({ text: q, limit, near: positionOf(near) }, signal)
      return { body: { ...found, attribution }, headers: { 'cache-control': 'private, max-age=60' } }
    },
  }),
]

function checkLimits(text: string, wanted: number): void {
  const { placeText, placesFound } = limits
  if (text.length > placeText.value) {
    throw overLimit('placeText', placeText.value, `must have at most ${placeText.value} characters`, {
      path: 'query/q',
    })
  }
  if (wanted > placesFound.value) {
    throw overLimit('placesFound', placesFound.value, `must be at most ${placesFound.value}`, { path: 'query/limit' })
  }
}

function positionOf(text: Static<typeof query>['near']): readonly [number, number] | undefined {
  if (text === undefined) return undefined
  const [longitude = Number.NaN, latitude = Number.NaN, ...rest] = text
    .split(',')
    .map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
  const isPlace = rest.length === 0 && Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90
  if (!isPlace) throw invalid('query/near', 'must be a longitude and a latitude such as 7.45,46.95')
  return [longitude, latitude]
}
