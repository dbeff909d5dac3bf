import type { Params } from '../crud.ts'
import { path } from '../request.ts'
import type { Send } from '../send.ts'

/** A place that a search found. */
export interface Place {
  name: string
  /** Another of its names, if it was found by that. */
  matched: string | null
  kind: 'country' | 'region' | 'city' | 'address'
  /** Its two-letter code. */
  country: string | null
  countryName: string | null
  population: number | null
  /** Longitude and latitude. */
  position: [number, number]
  /** West, south, east, north; null for points. */
  bounds: [number, number, number, number] | null
  /** A zoom of maps that shows it. */
  zoom: number
  source: 'gazetteer' | 'geocoder'
}

export interface FoundPlaces {
  places: Place[]
  /** To be shown where the places are. */
  attribution: string
  /** False if the server's geocoder failed. */
  isComplete: boolean
}

export interface PlaceSearchParams {
  /** At most 50. @defaultValue 10 */
  limit?: number
  /** Longitude and latitude: places near it come first. */
  near?: readonly [longitude: number, latitude: number]
}

export const placesGroup = (send: Send) => ({
  /** Places by the beginning of their names, the largest first. */
  search(text: string, { near, ...params }: Params<PlaceSearchParams> = {}) {
    const query = { ...params, q: text, ...(near && { near: near.join(',') }) }
    return send<FoundPlaces>('GET', path`/api/v1/places`, query)
  },
})
