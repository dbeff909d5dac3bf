import { asciiEnd, space } from '../../../../query/geometry/encoding/character-codes.ts'
import { decoderOf } from './code-pages.ts'
import { type DoubleByte, doubleBytes, type Language, languages } from './encoding-languages.ts'

/**
 * Finds the encoding of text that is not UTF-8 by a naive Bayes classifier: each encoding is tried with each language that is
 * written in it, and the pair under which the letters are likeliest wins. Scores are natural logarithms of probabilities.
 */
export function detectEncoding(text: Uint8Array): string {
  let best = { encoding: 'windows-1252', score: Number.NEGATIVE_INFINITY }
  const consider = (encoding: string, likelihood: number): void => {
    const score = likelihood + priorOf(encoding)
    if (score > best.score) best = { encoding, score }
  }
  const decoded = new Map<string, readonly Glyph[]>()
  for (const language of languages) {
    const model = modelOf(language)
    for (const encoding of language.encodings) {
      const glyphs = decoded.get(encoding) ?? glyphsOf(decoderOf(encoding)(text))
      decoded.set(encoding, glyphs)
      consider(encoding, scoreOfGlyphs(glyphs, model))
    }
  }
  for (const model of doubleBytes) consider(model.encoding, scoreOfPairs(text, model))
  return best.encoding
}

/** How much rarer files in an encoding are than those in the most frequent one. */
function priorOf(encoding: string): number {
  return priors[encoding] ?? (/^\d+$/.test(encoding) ? -4 : -3)
}

const priors: Readonly<Record<string, number>> = {
  'windows-1252': 0,
  'windows-1250': -1,
  'windows-1251': -1,
  'windows-1253': -1.5,
  'windows-1254': -1.5,
  shift_jis: -2,
  gbk: -2,
  big5: -2,
  'euc-kr': -2,
  macintosh: -6,
  'x-mac-cyrillic': -6,
}

const scores = { symbol: -11, impossible: -14, misplacedCapital: -4, accentedPair: -2, common: -5.4 }

/** A character of decoded text, with all that does not depend on the language. */
type Glyph = {
  /** In lower case, where it is a letter beyond ASCII. */
  readonly letter: string
  readonly isAscii: boolean
  /** The letter before it is beyond ASCII too. */
  readonly isBehindAnother: boolean
  readonly score: number
}

function glyphsOf(text: string): Glyph[] {
  const glyphs: Glyph[] = []
  let before = ' '
  for (const character of text) {
    if (character !== ' ') glyphs.push(glyphOf(character, before))
    before = character
  }
  return glyphs
}

function glyphOf(character: string, before: string): Glyph {
  const isBehindAnother = before >= '\x80'
  if (!/[\p{L}\p{M}]/u.test(character)) {
    const score = /[\p{C}\ufffd]/u.test(character) ? scores.impossible : scores.symbol
    return { letter: '', isAscii: false, isBehindAnother, score }
  }
  const isMisplaced = character !== character.toLowerCase() && before !== before.toUpperCase()
  const score = isMisplaced ? scores.misplacedCapital : 0
  // Of the Turkish capital the small letter would be two characters.
  const letter = character === 'İ' ? character : character.toLowerCase()
  return { letter, isAscii: character < '\x80', isBehindAnother, score }
}

type Model = {
  readonly letters: ReadonlyMap<string, number>
  readonly ascii: number
  readonly otherLetter: number
  readonly accentedPair: number
}

/** How many of the letters are beyond ASCII, and how many of these the language does not list. */
const shares = { beyondAsciiInLatin: 0.12, beyondAsciiOutsideLatin: 0.97, unlisted: 0.03 }
const asciiOutsideLatin = Math.log((1 - shares.beyondAsciiOutsideLatin) / 26)

/** The probability of a letter falls with its rank. */
function modelOf({ letters, isLatin }: Language): Model {
  const list = [...letters]
  const share = isLatin ? shares.beyondAsciiInLatin : shares.beyondAsciiOutsideLatin
  const total = list.reduce((sum, _, rank) => sum + 1 / (rank + 2), 0)
  const likely = list.map((letter, rank): [string, number] => [
    letter,
    Math.log((share * (1 - shares.unlisted)) / total / (rank + 2)),
  ])
  return {
    letters: new Map(likely),
    ascii: isLatin ? Math.log((1 - share) / 20) : asciiOutsideLatin,
    otherLetter: Math.log((share * shares.unlisted) / 60),
    accentedPair: isLatin ? scores.accentedPair : 0,
  }
}

function scoreOfGlyphs(glyphs: readonly Glyph[], { letters, ascii, otherLetter, accentedPair }: Model): number {
  let sum = 0
  for (const { letter, isAscii, isBehindAnother, score } of glyphs) {
    sum += score
    if (isAscii) sum += ascii
    else if (letter !== '') sum += (letters.get(letter) ?? otherLetter) + (isBehindAnother ? accentedPair : 0)
  }
  return sum
}

function scoreOfPairs(text: Uint8Array, model: DoubleByte): number {
  const decode = decoderOf(model.encoding)
  const scoreOf = new Map<number, number>()
  const scoreAt = (at: number): number => {
    const pair = (text[at] ?? 0) * 256 + (text[at + 1] ?? 0)
    const score = scoreOf.get(pair) ?? scoreOfPair(text.subarray(at, at + 2), model, decode)
    scoreOf.set(pair, score)
    return score
  }
  let sum = 0
  for (let at = 0; at < text.length; at++) {
    const alone = scoreOfSingle(text[at] ?? 0, model)
    const score = alone ?? scoreAt(at)
    sum += score
    if (alone === undefined && score > scores.impossible) at++
  }
  return sum
}

/** Of a byte that is a character by itself. */
function scoreOfSingle(byte: number, { single }: DoubleByte): number | undefined {
  if (byte === space) return 0
  if (byte < asciiEnd) return asciiOutsideLatin
  return single && isWithin(byte, single.range) ? single.score : undefined
}

function scoreOfPair(pair: Uint8Array, { zones, common }: DoubleByte, decode: (bytes: Uint8Array) => string): number {
  const [lead = 0, trail = 0] = pair
  const zone = zones.find(([leads, trails]) => isWithin(lead, leads) && isWithin(trail, trails))
  const character = zone ? decode(pair) : '\ufffd'
  if (!zone || character.length !== 1 || character === '\ufffd') return scores.impossible
  return common.has(character) ? scores.common : zone[2]
}

const isWithin = (byte: number, [first, last]: readonly [number, number]): boolean => byte >= first && byte <= last
