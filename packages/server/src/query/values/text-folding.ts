// Folding of case and accents, character by character, so that every engine gives the same text as memory.

export type Folding = 'case' | 'accent' | 'case and accent'

/** Marks that are letters of their own: without them Japanese words become others. */
const voicingMarks = '\u3099\u309a'

/** Letters with a stroke or joined ones, which Unicode does not decompose, and the letters they are sorted with. */
const strokes: Readonly<Record<string, string>> = {
  Æ: 'AE',
  æ: 'ae',
  Ð: 'D',
  ð: 'd',
  Đ: 'D',
  đ: 'd',
  Ħ: 'H',
  ħ: 'h',
  ı: 'i',
  Ĳ: 'IJ',
  ĳ: 'ij',
  Ł: 'L',
  ł: 'l',
  Ŀ: 'L',
  ŀ: 'l',
  ŉ: "'n",
  Ŋ: 'N',
  ŋ: 'n',
  Ø: 'O',
  ø: 'o',
  Œ: 'OE',
  œ: 'oe',
  Þ: 'TH',
  þ: 'th',
  Ŧ: 'T',
  ŧ: 't',
  ſ: 's',
  ẞ: 'SS',
  ß: 'ss',
  ƀ: 'b',
  Ƀ: 'B',
  Ɓ: 'B',
  ɓ: 'b',
  Ɗ: 'D',
  ɗ: 'd',
  Ɨ: 'I',
  ɨ: 'i',
  Ƙ: 'K',
  ƙ: 'k',
  ƚ: 'l',
  Ƶ: 'Z',
  ƶ: 'z',
  Ǥ: 'G',
  ǥ: 'g',
  Ɵ: 'O',
  ɵ: 'o',
  Ɖ: 'D',
  ɖ: 'd',
}

const mark = /^\p{Mn}$/u
const shared = /^\p{Script=Inherited}$/u

/** Where characters are that have case or accents; the other million need not be looked at. */
const blocks = [
  [0x1, 0x3100],
  [0xa640, 0xabff],
  [0xfb00, 0xfe2f],
  [0xff21, 0xff5a],
  [0x10400, 0x10fff],
  [0x118a0, 0x118df],
  [0x16e40, 0x16eff],
  [0x1e900, 0x1e943],
] as const

/** Marks that stand above or below letters of several scripts; vowel signs of one script are letters. */
const isAccent = (character: string): boolean =>
  mark.test(character) && shared.test(character) && !voicingMarks.includes(character)

/** What each character becomes; a character that stays the same is absent. */
export type FoldingMap = ReadonlyMap<string, string>

const made = new Map<Folding, FoldingMap>()

/** Made when first needed, because it takes some milliseconds. */
export function foldingMap(folding: Folding): FoldingMap {
  const map = made.get(folding) ?? makeMap(folding)
  made.set(folding, map)
  return map
}

export function foldText(folding: Folding, text: string): string {
  const map = foldingMap(folding)
  let folded = ''
  for (const character of text) folded += map.get(character) ?? character
  return folded
}

function makeMap(folding: Folding): FoldingMap {
  const map = new Map<string, string>()
  for (const [first, last] of blocks) {
    for (let code = first; code <= last; code++) {
      const character = String.fromCodePoint(code)
      const folded = foldCharacter(folding, character)
      if (folded !== character) map.set(character, folded)
    }
  }
  return map
}

function foldCharacter(folding: Folding, character: string): string {
  const cased = folding === 'accent' ? character : foldCase(character)
  return folding === 'case' ? cased : [...cased].map(stripAccents).join('')
}

const changesCase = /^\p{Changes_When_Casefolded}$/u
/** An iota that the property above counts as the ordinary one. */
const prosgegrammeni = '\u1fbe'

/**
 * Unicode's full case folding of one character. JavaScript has no function for it, but the lower case of the upper case is
 * the same for characters that case folding changes, except where the folded letter is the capital (Cherokee).
 */
function foldCase(character: string): string {
  const isExpanded = character.toUpperCase().length > character.length
  if (!isExpanded && character !== prosgegrammeni && !changesCase.test(character)) return character
  const upper = character.toUpperCase()
  const lower = [...upper].map((letter) => letter.toLowerCase()).join('')
  if (lower === character) return upper
  return lower === upper ? lower : [...lower].map(foldCase).join('')
}

/** The letters without accents; syllables of Hangul and letters with voicing marks stay whole. */
function stripAccents(character: string): string {
  const parts = [...character.normalize('NFD')]
  const kept = parts.filter((part) => !isAccent(part))
  const stripped = kept.length < parts.length ? kept.join('').normalize('NFC') : character
  return [...stripped].map((letter) => strokes[letter] ?? letter).join('')
}
