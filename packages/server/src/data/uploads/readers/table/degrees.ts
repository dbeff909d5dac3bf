/** Angles as people write them: decimal, or degrees, minutes and seconds (DMS), with or without a hemisphere. */

export type Axis = 'latitude' | 'longitude'

/** `axis` is what the hemisphere says it is; undefined when none is written. */
export type Angle = { degrees: number; axis: Axis | undefined }

/** An O is Ost in German, but ouest, oeste and ovest elsewhere. */
export type MeaningOfO = 'east' | 'west'

type Hemisphere = { axis: Axis; sign: 1 | -1 }

const north: Hemisphere = { axis: 'latitude', sign: 1 }
const south: Hemisphere = { axis: 'latitude', sign: -1 }
const east: Hemisphere = { axis: 'longitude', sign: 1 }
const west: Hemisphere = { axis: 'longitude', sign: -1 }

/** In upper case: Latin, Cyrillic (с. ш., ю. ш., в. д., з. д.), Chinese and Japanese. */
const hemispheres: Readonly<Record<string, Hemisphere>> = {
  N: north,
  S: south,
  E: east,
  W: west,
  Ö: east,
  NORTH: north,
  SOUTH: south,
  EAST: east,
  WEST: west,
  NORD: north,
  SUD: south,
  SÜD: south,
  OST: east,
  EST: east,
  С: north,
  Ю: south,
  В: east,
  З: west,
  СШ: north,
  ЮШ: south,
  ВД: east,
  ЗД: west,
  北: north,
  南: south,
  东: east,
  東: east,
  西: west,
  北纬: north,
  南纬: south,
  北緯: north,
  南緯: south,
  东经: east,
  西经: west,
  東経: east,
  西経: west,
  東經: east,
  西經: west,
}

const minuteOrSecondLimit = 60
const longestAngle = 60

const number = String.raw`\d+(?:[.,]\d+)?`
/** Degrees, then minutes and seconds or neither. Between the numbers stands a sign, a colon or a blank. */
const angle = new RegExp(`^([+-]?)(${number})(?:°|[°: ](${number})(?:'|[': ](${number})"?)?)?$`)

/** The angle in a text, or undefined when it is none: `60°10'12.5"N`, `N 60 10 12.5`, `60 10.2083 N`, `60d10m12s`, `-24.94`. */
export function parseAngle(text: string, meaningOfO?: MeaningOfO): Angle | undefined {
  if (text.length > longestAngle) return undefined
  const { rest, letters } = withoutHemisphere(plainSigns(text))
  const hemisphere = letters === '' ? undefined : hemisphereOf(letters, meaningOfO)
  if (letters !== '' && !hemisphere) return undefined
  const match = angle.exec(rest)
  if (!match) return undefined
  const [, sign, ...parts] = match
  const [degrees = 0, minutes = 0, seconds = 0] = parts.map((part) => Number((part ?? '0').replace(',', '.')))
  // Only the last part has a fraction, and a hemisphere is a sign of its own.
  const isWhole = parts.every((part, index) => parts[index + 1] === undefined || /^\d+$/.test(part ?? ''))
  if (!isWhole || minutes >= minuteOrSecondLimit || seconds >= minuteOrSecondLimit) return undefined
  if (hemisphere && sign !== '') return undefined
  // In this order 60°10'12" is 60.17 and not 60.169999999999995.
  const size = (degrees * 3600 + minutes * 60 + seconds) / 3600
  return { degrees: (hemisphere?.sign ?? (sign === '-' ? -1 : 1)) * size, axis: hemisphere?.axis }
}

/** One sign for each meaning, and blanks only where nothing else parts two numbers. */
function plainSigns(text: string): string {
  const signs = text
    .replaceAll(/[\u2212\u2013]/g, '-')
    .replaceAll(/[º˚度]|deg(rees?)?\b/gi, '°')
    .replaceAll(/[″“”„秒]|[′’‘´`']{2}|sec\b/g, '"')
    .replaceAll(/[′’‘´`ʹ分]|min\b/g, "'")
    .normalize('NFKC')
  const letters = /\d ?d ?(\d|$)/.test(signs) ? signsForLetters(signs) : signs
  return letters
    .replaceAll(/[\s\u200e\u200f]+/g, ' ')
    .replaceAll(/ ?([°'":]) ?/g, '$1')
    .trim()
}

/** Of `60d10m12sN`. The letters of units are small, those of hemispheres large. */
function signsForLetters(text: string): string {
  return text
    .replace(/(?<=\d) ?d/, '°')
    .replace(/(?<=\d) ?m/, "'")
    .replace(/(?<=\d) ?s/, '"')
}

const leading = /^(\p{L}{1,5})\.? ?(?=[\d+-])/u
const trailing = /(?<=[\d°'" ])(\p{L}\.? ?\p{L}{0,4})\.?$/u

function withoutHemisphere(text: string): { rest: string; letters: string } {
  const match = leading.exec(text) ?? trailing.exec(text)
  if (!match) return { rest: text, letters: '' }
  const rest = text.slice(0, match.index) + text.slice(match.index + match[0].length)
  return { rest: rest.trim(), letters: (match[1] ?? '').replaceAll(/[. ]/g, '').toUpperCase() }
}

function hemisphereOf(letters: string, meaningOfO: MeaningOfO | undefined): Hemisphere | undefined {
  if (letters !== 'O') return hemispheres[letters]
  return meaningOfO && (meaningOfO === 'east' ? east : west)
}
