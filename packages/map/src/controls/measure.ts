/** Lengths and areas on the sphere. */

type Position = readonly [longitude: number, latitude: number]

/** The mean radius of the earth, in metres. */
const radius = 6_371_008.8
const radians = (degrees: number): number => (degrees * Math.PI) / 180

/** Great circle distance, by the haversine formula, which is exact for near points too. */
function distance([fromX, fromY]: Position, [toX, toY]: Position): number {
  const a =
    Math.sin(radians(toY - fromY) / 2) ** 2 +
    Math.cos(radians(fromY)) * Math.cos(radians(toY)) * Math.sin(radians(toX - fromX) / 2) ** 2
  return 2 * radius * Math.asin(Math.min(1, Math.sqrt(a)))
}

/** In metres. */
export const lengthOf = (line: readonly Position[]): number =>
  line.slice(1).reduce((sum, position, index) => sum + distance(line[index] ?? position, position), 0)

/** Of the ring that the positions close, in square metres. */
export function areaOf(ring: readonly Position[]): number {
  const sum = ring.reduce((total, [x, y], index) => {
    const [nextX, nextY] = ring[(index + 1) % ring.length] ?? [x, y]
    return total + radians(nextX - x) * (2 + Math.sin(radians(y)) + Math.sin(radians(nextY)))
  }, 0)
  return Math.abs((sum * radius * radius) / 2)
}

const kilometre = 1_000

/** Metres below a kilometre. */
export function lengthText(metres: number, locale?: string): string {
  return metres < kilometre ? withUnit(metres, 'm', locale) : withUnit(metres / kilometre, 'km', locale)
}

/** Square metres below a hundredth of a square kilometre. */
export function areaText(squareMetres: number, locale?: string): string {
  const squareKilometres = squareMetres / kilometre ** 2
  return squareKilometres < 0.01 ? withUnit(squareMetres, 'm²', locale) : withUnit(squareKilometres, 'km²', locale)
}

const withUnit = (value: number, unit: string, locale: string | undefined): string =>
  `${new Intl.NumberFormat(locale, { maximumFractionDigits: value < 100 ? 2 : 0 }).format(value)} ${unit}`
