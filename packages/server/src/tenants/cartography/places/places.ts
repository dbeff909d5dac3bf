/** The search for places: the gazetteer, and a geocoder if one is set. */
import type { Gazetteer } from './gazetteer.ts'
import type { Geocoder } from './geocoder.ts'
import { foldName, kilometresBetween, type Place, type PlaceRequest } from './place.ts'

export type Places = {
  search(request: PlaceRequest, signal: AbortSignal): Promise<{ places: Place[]; isComplete: boolean }>
}

/** Shorter texts are the beginning of a word, for which a geocoder is not asked. */
const shortestQuestion = 3
/** Results of the same name that are as near are one place. */
const sameKm = 30

export function createPlaces(gazetteer: Gazetteer, geocoder: Geocoder | undefined): Places {
  return {
    async search(request, signal) {
      const isAsked = geocoder !== undefined && foldName(request.text).length >= shortestQuestion
      const [known, others] = await Promise.all([
        gazetteer.search(request),
        isAsked ? geocoder.search(request, signal) : [],
      ])
      return { places: merged(known, others ?? [], request.limit), isComplete: others !== undefined }
    },
  }
}

/** Half of the results at most are the gazetteer's where the geocoder has as many. */
function merged(known: readonly Place[], others: readonly Place[], limit: number): Place[] {
  const news = others.filter((other) => !known.some((one) => isSame(one, other)))
  const first = known.slice(0, Math.max(Math.ceil(limit / 2), limit - news.length))
  return [...first, ...news].slice(0, limit)
}

const isSame = (one: Place, other: Place): boolean =>
  kilometresBetween(one.position, other.position) < sameKm &&
  foldName(other.name.split(',', 1)[0] ?? '') === foldName(one.name)
