import type { Axis } from './degrees.ts'

/** Headings of columns that hold coordinates, in the languages that files come in, whatever the accents, case and units. */

/** `prefix` is what stands before the word (`start` of `start_lat`): columns with the same one belong together. */
export type AxisHeading = { axis: Axis; prefix: string; isSure: boolean }

const latitudes = `
  lat latitude lattitude latit latitudine latitud breitengrad breitengrade breddgrad breddegrad breedtegraad
  leveysaste leveyspiiri enlem широта шырата 纬度 緯度 北緯 北纬 위도 अक्षांश`
const longitudes = `
  lon lng long longitude longtitude longit longitudine longitud längengrad laengengrad längengrade längdgrad længdegrad
  lengdegrad lengtegraad pituusaste pituuspiiri boylam долгота довгота даўгата 经度 經度 経度 東経 东经 경도 देशांतर`
/** They mean width and length of anything, unless something else tells that the earth is meant. */
const widths = 'breite breedte bredd bredde szerokość leveys πλάτος ширина šířka širina szélesség العرض عرض רוחב'
const lengths =
  'länge laenge lengte längd længde lengde długość pituus μήκος должина дължина délka dužina hosszúság الطول طول אורך'

/** Lower case without accents, units and signs; parts are divided by blanks. */
export const foldHeading = (name: string): string =>
  name
    .replaceAll(/[°º˚]/g, ' ')
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ł', 'l')
    .replaceAll('æ', 'ae')
    .replaceAll('ø', 'o')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

const wordsOf = (text: string): string[] => foldHeading(text).split(' ')

type Word = { axis: Axis; isSure: boolean }
const words = new Map<string, Word>([
  ...wordsOf(widths).map((word) => [word, { axis: 'latitude', isSure: false }] as const),
  ...wordsOf(lengths).map((word) => [word, { axis: 'longitude', isSure: false }] as const),
  ...wordsOf(latitudes).map((word) => [word, { axis: 'latitude', isSure: true }] as const),
  ...wordsOf(longitudes).map((word) => [word, { axis: 'longitude', isSure: true }] as const),
])
/** Languages that write no blanks. */
const unspaced = [...words.keys()].filter((word) => /[\p{sc=Han}\p{sc=Hangul}]/u.test(word))

/** Says of a width or length that it is one on the earth: `Geogr. Breite`, `szerokość geograficzna`, `خط العرض`. */
const earthly = /^(geo|γεωγ|гео|zemepis|foldrajz|خط|داير|קו)/
const units = new Set(
  wordsOf(`deg degs degree degrees decimal dec dd ddd dms gms ddm wgs wgs84 84 epsg 4326 degré degrés grad grade grados gradi graus
    graden stopnie grader gr градусы град n s e w o nord north ost est etrs etrs89 89 y x coord coordinate koordinate 度 in`),
)

/** The axis that a heading names: `Lat (°)`, `latitude_deg`, `Geogr. Breite`, `stopLon`, `经度`. */
export function readAxisHeading(name: string): AxisHeading | undefined {
  const tokens = foldHeading(name).split(' ')
  let isEarthly = false
  while (tokens.length > 1) {
    const last = tokens.at(-1) ?? ''
    if (!units.has(last) && !earthly.test(last)) break
    isEarthly ||= earthly.test(last)
    tokens.pop()
  }
  const last = tokens.pop() ?? ''
  const ending = words.has(last) ? last : unspaced.find((word) => last.endsWith(word))
  const word = ending === undefined ? undefined : words.get(ending)
  if (ending === undefined || !word) return undefined
  isEarthly ||= tokens.some((token) => earthly.test(token))
  const prefix = [...tokens.filter((token) => !earthly.test(token)), last.slice(0, -ending.length)].join(' ').trim()
  return { axis: word.axis, prefix, isSure: word.isSure || isEarthly }
}

const pairWords = new Set(
  wordsOf(`coordinates coordinate coords coord latlon latlng latlong lonlat lnglat longlat location loc position pos point gps
    geopoint geolocation geo 2d koordinaten koordinate koordinaatit koordinaatti sijainti koordinater coordonnées
    coordonnée coordenadas coordenada ubicación posición localización localização posizione posizioni współrzędne
    coördinaten coordinaten locatie coordonate координаты координата местоположение координати συντεταγμένες
    坐标 座標 座标 经纬度 經緯度 緯度経度 位置 إحداثيات الإحداثيات الموقع 좌표`),
)

/** Whether a heading says that both coordinates are in its column. */
export function isPairHeading(name: string): boolean {
  const tokens = foldHeading(name).split(' ')
  return tokens.some((token) => pairWords.has(token)) || orderInHeading(name) !== undefined
}

/** Which comes first in a column of both. */
export type PairOrder = 'latitude first' | 'longitude first'

/** The order that a heading such as `lon/lat` gives. */
export function orderInHeading(name: string): PairOrder | undefined {
  const text = foldHeading(name)
  if (/经纬度|經緯度/.test(text)) return 'longitude first'
  const glued = /(^| )(lat|lon|lng|long)(lat|lon|lng|long)( |$)/.exec(text)
  const axes = glued
    ? [words.get(glued[2] ?? '')?.axis, words.get(glued[3] ?? '')?.axis]
    : text.split(' ').flatMap((token) => words.get(token)?.axis ?? [])
  const [first, second] = axes
  if (first === undefined || second === undefined || first === second) return undefined
  return first === 'latitude' ? 'latitude first' : 'longitude first'
}
