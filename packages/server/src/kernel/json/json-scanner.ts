/**
 * One pass over the bytes of JSON, as they arrive, that counts values, keys and levels, and refuses what is over its budget before
 * JSON.parse makes objects of it.
 */

import { limits, overLimit, type RefusingLimit } from '../limits/limits.ts'
import type { JsonBudget } from './json-budget.ts'

const quote = 0x22
const backslash = 0x5c

/** What a byte outside of a text is. The order matters to `#readPlain`. */
const scalar = 0
/** Of an exponent, or of `true` and `false`. */
const letterE = 1
/** Spaces and commas. */
const gap = 2
const text = 3
const open = 4
const close = 5
const colon = 6

const kinds = new Uint8Array(256).fill(scalar)
for (const [kind, characters] of [
  [gap, ' \t\n\r,'],
  [text, '"'],
  [open, '[{'],
  [close, ']}'],
  [colon, ':'],
  [letterE, 'eE'],
] as const)
  for (const character of characters) kinds[character.charCodeAt(0)] = kind

/** Where the last byte left off. */
const between = 0
const inScalar = 1
const inText = 2
const afterBackslash = 3

/** How far a text is read byte by byte. */
const nearBytes = 32

const coordinatesKey = Buffer.from('"coordinates"')
const maxKeyBytes = limits.keyBytes.value

/** Doubles go up to 1.8e308, and hold 15 digits. */
const finiteDigits = 300
const exactDigits = 15

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39

function endOrIndexOf(bytes: Uint8Array, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from)
  return at === -1 ? bytes.length : at
}

export type JsonRange = { readonly start: number; readonly end: number }

export class JsonScanner {
  readonly #budget: JsonBudget
  readonly #path: string
  #state = between
  #depth = 0
  #keys = 0
  #values = 0
  #mostValues: number
  /** The bytes of the last text with its quotes, and of all pieces before this one. */
  #textStart = 0
  #textEnd = 0
  #offset = 0
  /** In the bytes that are being read. Remembered, lest each search goes over all of them. */
  #nextBackslash = -1
  #nextQuote = -1
  #scalarStart = 0
  #mayOverflow = false
  #mayRound = false
  #isComplete = false
  readonly #coordinates: JsonRange[] = []
  /** The depth of the value of `coordinates`, 0 outside of it, and the count that rests meanwhile. */
  #coordinatesDepth = 0
  #coordinatesStart = -1
  #endsWithValue = false
  #lastBytes: Uint8Array = new Uint8Array()
  #restingValues = 0

  /** A number may be too large for a double. */
  get mayOverflow(): boolean {
    return this.#mayOverflow
  }

  /** A number outside of coordinates may have more digits than a double. */
  get mayRound(): boolean {
    return this.#mayRound
  }

  /** Where the values of `coordinates` are. */
  get coordinates(): readonly JsonRange[] {
    return this.#coordinates
  }

  /** All values, those of coordinates too. */
  get total(): number {
    return this.#values + this.#restingValues
  }

  /** `path` is the place of the JSON in messages. */
  constructor(budget: JsonBudget, path = 'body') {
    this.#budget = budget
    this.#path = path
    this.#mostValues = limits[budget.values].value
  }

  /** Counts the next bytes, or throws. The inner loops are tight, since every byte of every body goes through them. */
  feed(bytes: Uint8Array): void {
    this.#read(bytes, 0, false)
    this.#offset += bytes.length
    this.#lastBytes = bytes.slice(-coordinatesKey.length)
  }

  /** Counts the list or object that begins there, and answers where it ends: behind all bytes, if it is not whole. */
  feedOne(bytes: Uint8Array, begin: number): number {
    return this.#read(bytes, begin, true)
  }

  #read(bytes: Uint8Array, begin: number, endsWithValue: boolean): number {
    const { length } = bytes
    this.#nextBackslash = -1
    this.#nextQuote = -1
    this.#endsWithValue = endsWithValue
    let at = begin
    while (at < length && !this.#isComplete) {
      if (this.#state === inText) at = this.#skipText(bytes, at)
      else if (this.#state === afterBackslash) {
        this.#state = inText
        at++
      } else at = this.#readPlain(bytes, at)
    }
    return this.#isComplete ? at : length + 1
  }

  /** To the end of a text, or of the bytes. */
  #skipText(bytes: Uint8Array, begin: number): number {
    const { length } = bytes
    let far = begin + nearBytes
    for (let at = begin; at < length; at++) {
      if (at > far) {
        at = this.#skipFar(bytes, at)
        far = at + nearBytes
      }
      const byte = bytes[at]
      if (byte === quote) {
        this.#state = between
        this.#textEnd = this.#offset + at + 1
        return at + 1
      }
      if (byte !== backslash) continue
      if (++at === length) this.#state = afterBackslash
    }
    return length
  }

  /** The next quote or backslash, or the last byte, by a native search, which a short text is not worth. */
  #skipFar(bytes: Uint8Array, at: number): number {
    if (this.#nextBackslash < at) this.#nextBackslash = endOrIndexOf(bytes, backslash, at)
    if (this.#nextQuote < at) this.#nextQuote = endOrIndexOf(bytes, quote, at)
    return Math.min(this.#nextBackslash, this.#nextQuote, bytes.length - 1)
  }

  /** To the next text, or the end of the bytes. */
  #readPlain(bytes: Uint8Array, begin: number): number {
    const { length } = bytes
    let isScalar = this.#state === inScalar
    for (let at = begin; at < length; at++) {
      const kind = kinds[bytes[at] as number] as number
      if (kind === scalar && isScalar) continue
      if (kind === letterE) this.#noteExponent(bytes, at)
      const wasScalar = isScalar
      isScalar = kind <= letterE
      if (isScalar !== wasScalar) this.#turnScalar(isScalar, at)
      if (kind === text) return this.#beginText(at)
      if (kind >= open && this.#readMark(kind, bytes, at)) return at + 1
    }
    this.#state = isScalar ? inScalar : between
    return length
  }

  #beginText(at: number): number {
    this.#addValue()
    this.#textStart = this.#offset + at
    this.#state = inText
    return at + 1
  }

  /** Whether what is read ends here. */
  #readMark(kind: number, bytes: Uint8Array, at: number): boolean {
    if (kind === open) this.#open(at)
    else if (kind === close) this.#close(at)
    else this.#addKey(bytes)
    return this.#isComplete
  }

  /** Not that of true and false. The digit before it may be in the bytes before. */
  #noteExponent(bytes: Uint8Array, at: number): void {
    if (at > 0 && !isDigit(bytes[at - 1])) return
    this.#mayOverflow = true
    if (this.#coordinatesDepth === 0) this.#mayRound = true
  }

  /** A scalar begins or ends. */
  #turnScalar(begins: boolean, at: number): void {
    if (begins) this.#addValue()
    else this.#measureScalar(this.#offset + at - this.#scalarStart)
    this.#scalarStart = this.#offset + at
  }

  #measureScalar(length: number): void {
    if (length > finiteDigits) this.#mayOverflow = true
    if (length > exactDigits && this.#coordinatesDepth === 0) this.#mayRound = true
  }

  #addValue(): void {
    if (++this.#values > this.#mostValues) throw this.#tooManyValues()
  }

  #open(at: number): void {
    this.#addValue()
    if (this.#coordinatesDepth === this.#depth + 1) this.#coordinatesStart = this.#offset + at
    const { depth } = this.#budget
    if (++this.#depth > depth)
      throw overLimit('bodyDepth', depth, `must not nest deeper than ${depth} levels`, { path: this.#path })
  }

  #close(at: number): void {
    this.#depth--
    if (this.#coordinatesDepth === this.#depth + 1 && this.#coordinatesStart !== -1)
      this.#coordinates.push({ start: this.#coordinatesStart, end: this.#offset + at + 1 })
    if (this.#coordinatesDepth > this.#depth) this.#leaveCoordinates()
    if (this.#depth === 0 && this.#endsWithValue) this.#isComplete = true
  }

  /** The text before a colon is a key and no value. */
  #addKey(bytes: Uint8Array): void {
    this.#values--
    const { keys, coordinates } = this.#budget
    const path = this.#path
    if (++this.#keys > keys) throw overLimit('bodyKeys', keys, `must not have more than ${keys} keys`, { path })
    if (this.#textEnd - this.#textStart - 2 > maxKeyBytes)
      throw overLimit('keyBytes', maxKeyBytes, `must not have keys longer than ${maxKeyBytes} bytes`, { path })
    // The value of the key before was no list.
    if (this.#coordinatesDepth === this.#depth + 1) this.#leaveCoordinates()
    if (coordinates && this.#coordinatesDepth === 0 && this.#isCoordinates(bytes)) this.#enterCoordinates(coordinates)
  }

  #isCoordinates(bytes: Uint8Array): boolean {
    if (this.#textEnd - this.#textStart !== coordinatesKey.length) return false
    const begin = this.#textStart - this.#offset
    const last = this.#lastBytes
    // It may have begun in the bytes before.
    const byteAt = (at: number) => (at < 0 ? last[last.length + at] : bytes[at])
    return coordinatesKey.every((byte, index) => byteAt(begin + index) === byte)
  }

  #enterCoordinates(name: 'coordinateValues'): void {
    this.#coordinatesDepth = this.#depth + 1
    this.#coordinatesStart = -1
    ;[this.#values, this.#restingValues] = [this.#restingValues, this.#values]
    this.#mostValues = limits[name].value
  }

  #leaveCoordinates(): void {
    this.#coordinatesDepth = 0
    ;[this.#values, this.#restingValues] = [this.#restingValues, this.#values]
    this.#mostValues = limits[this.#budget.values].value
  }

  #tooManyValues(): Error {
    const name: RefusingLimit =
      this.#coordinatesDepth > 0 ? (this.#budget.coordinates ?? this.#budget.values) : this.#budget.values
    const most = this.#mostValues
    const what = name === 'coordinateValues' ? 'numbers and lists in coordinates' : 'values'
    return overLimit(name, most, `must not have more than ${most} ${what}`, { path: this.#path })
  }
}

/** Throws if the JSON is over the budget. Whether it is valid JSON is seen when it is parsed. */
export function scanJson(bytes: Uint8Array, budget: JsonBudget, path?: string): JsonScanner {
  const scanner = new JsonScanner(budget, path)
  scanner.feed(bytes)
  return scanner
}
