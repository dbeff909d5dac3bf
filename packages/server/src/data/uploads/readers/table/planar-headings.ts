import { foldHeading } from './coordinate-headings.ts'
import { type HeadingManner, isSystemWord } from './coordinate-systems.ts'

/** Headings of columns that hold eastings and northings: `E_LV95`, `XKOORD`, `Rechtswert`, `coord_x`, `Koordinate E`, `easting`. */
export type PlanarHeading = {
  axis: 'x' | 'y'
  /** What belongs together has the same: `start` of `start_x`. */
  prefix: string
  /** Nothing else is called so; an `x`, an `E` or an `east` alone may be anything. */
  isSure: boolean
  manners: readonly HeadingManner[]
  /** Parts that name a reference system. */
  words: readonly string[]
}

type AxisWord = { axis: 'x' | 'y'; isSure: boolean; manners: readonly HeadingManner[] }

const axisWords = new Map<string, AxisWord>()

function learn(axis: 'x' | 'y', isSure: boolean, manners: readonly HeadingManner[], words: string): void {
  for (const word of words.split(' ')) axisWords.set(word, { axis, isSure, manners })
}

learn('x', true, ['english'], 'easting eastings')
learn('y', true, ['english'], 'northing northings')
learn('x', true, ['german'], 'rechtswert rechtswerte rechts ostwert ostwerte ostkoordinate')
learn('y', true, ['german'], 'hochwert hochwerte hoch nordwert nordwerte nordkoordinate')
learn('x', true, ['swiss'], 'gkode gkody')
learn('y', true, ['swiss'], 'gkodn gkodx')
learn('x', false, ['english'], 'east')
learn('y', false, ['english'], 'north')
learn('x', false, ['letters'], 'e')
learn('y', false, ['letters'], 'n')
learn('x', false, ['german'], 'ost')
learn('x', false, ['italian'], 'est')
learn('y', false, ['german', 'italian'], 'nord')
learn('x', false, ['iberian'], 'este leste')
learn('y', false, ['iberian'], 'norte')
learn('x', false, [], 'x cx px posx')
learn('y', false, [], 'y cy py posy')

/** Words for a coordinate, with what their language tells. Short forms of the Romance languages and Dutch are the same. */
const romance = ['french', 'italian', 'iberian', 'dutch'] as const
const coordinateWords = new Map<string, readonly HeadingManner[]>(
  (
    [
      ['koordinate koordinaten koord koor wert', ['german']],
      ['coordinate coordinates coord coords coor', romance],
      ['coordonnee coordonnees', ['french']],
      ['coordinaat coordinaten', ['dutch']],
      ['coordinata', ['italian']],
      ['coordenada coordenadas', ['iberian']],
      ['point punkt centroid', []],
    ] as const
  ).flatMap(([words, manners]) => words.split(' ').map((word) => [word, manners] as const)),
)

const units = new Set('m meter metre metres meters metri metros mtr mts in ft feet'.split(' '))
/** Says where the point is, not what it is. */
const plainPrefixes = new Set([
  '',
  'start',
  'end',
  'from',
  'to',
  'center',
  'centre',
  'centroid',
  'geo',
  'map',
  'pos',
  'gps',
])
const coordinateStem = 'koordinate|koord|coordinate|coord|coor|punkt|point|pos'
const glued = new RegExp(
  `^(?:(?<stem>${coordinateStem}|[a-z]+\\d+)(?<after>[xyen])|(?<before>[xyen])(?<stem2>${coordinateStem}|[a-z]+\\d+))$`,
)
const gluedSystem = /^(?<stem>rd|lv95|lv03|mn95|utm|bng|osgb|itm|gk|eov|rt90)(?<after>[xyen])$/

/** The parts of a heading, those that are written as one too: `xkoord`, `coordx`, `rdx`. */
function partsOf(name: string): string[] {
  const tokens = foldHeading(name).split(' ')
  return tokens.flatMap((token) => {
    if (axisWords.has(token) || coordinateWords.has(token) || isSystemWord(token)) return [token]
    const { stem, stem2, after, before } = (gluedSystem.exec(token) ?? glued.exec(token))?.groups ?? {}
    const axis = after ?? before
    const rest = stem ?? stem2
    if (axis === undefined || rest === undefined) return [token]
    const isKnown = coordinateWords.has(rest) || isSystemWord(rest) || new RegExp(`^(?:${coordinateStem})$`).test(rest)
    return isKnown ? [rest, axis] : [token]
  })
}

/** Systems whose names are of two parts: `UTM 32`, `Lambert 93`, `EPSG:2056`, `Huso 30`. */
function joined(parts: readonly string[]): string[] {
  return parts.flatMap((part, index) => {
    const both = `${parts[index - 1] ?? ''}${part}`
    return index > 0 && !axisWords.has(part) && isSystemWord(both) ? [part, both] : [part]
  })
}

export function readPlanarHeading(name: string): PlanarHeading | undefined {
  const parts = partsOf(name)
  const axes = parts.flatMap((part) => axisWords.get(part) ?? [])
  const [found] = axes
  if (!found || axes.length > 1) return undefined
  const words = joined(parts).filter(isSystemWord)
  const named = parts.flatMap((part) => (coordinateWords.has(part) ? [coordinateWords.get(part) ?? []] : []))
  const others = parts.filter(
    (part) =>
      !axisWords.has(part) &&
      !coordinateWords.has(part) &&
      !units.has(part) &&
      !words.some((word) => word.includes(part)),
  )
  const isNumbered = others.filter((part) => !/^(utm|etrs|etrs89|wgs|wgs84|zone|zona|epsg|huso|fuso|\d+n?)$/.test(part))
  return {
    axis: found.axis,
    prefix: isNumbered.join(' '),
    isSure: found.isSure || named.length > 0 || words.length > 0 || isNumbered.length < others.length,
    manners: [...new Set([...found.manners, ...named.flat()])],
    words,
  }
}

/** Whether what stands before an axis lets it be one of a place. */
export const isPlainPrefix = (prefix: string): boolean => plainPrefixes.has(prefix)
