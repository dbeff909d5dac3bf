/** A place that a search finds. */
export type Place = {
  readonly name: string
  /** Another of its names, if the search found it by that. */
  readonly matched: string | null
  readonly kind: 'country' | 'region' | 'city' | 'address'
  /** Two letters; null where it is not known. */
  readonly country: string | null
  readonly countryName: string | null
  /** Null where it is not known. */
  readonly population: number | null
  readonly position: readonly [longitude: number, latitude: number]
  /** West, south, east and north; null for points. */
  readonly bounds: readonly [number, number, number, number] | null
  /** A zoom that shows it, for places without bounds. */
  readonly zoom: number
  readonly source: 'gazetteer' | 'geocoder'
}

export type PlaceRequest = {
  readonly text: string
  readonly limit: number
  /** Places near it come first. */
  readonly near?: readonly [longitude: number, latitude: number] | undefined
}

/** Letters that are written with others where a keyboard does not have them. */
const spelledOut: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
}

/** Without case, accents and punctuation: `Saint-Étienne` and `saint etienne` are the same. */
export const foldName = (name: string): string =>
  name
    .normalize('NFD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[ßæœøłđðþı]/g, (letter) => spelledOut[letter] ?? letter)
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

const earthKm = 6371

export function kilometresBetween([west, south]: Place['position'], [east, north]: Place['position']): number {
  const radians = Math.PI / 180
  const half = (degrees: number) => Math.sin((degrees * radians) / 2) ** 2
  const chord = half(north - south) + Math.cos(south * radians) * Math.cos(north * radians) * half(east - west)
  return 2 * earthKm * Math.asin(Math.sqrt(Math.min(1, chord)))
}
