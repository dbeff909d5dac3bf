/**
 * One pass over the bytes of JSON, as they arrive, that counts values, keys and levels, and refuses what is over its budget before
 * JSON.parse makes objects of it.
 */

import { limits, overLimit, type RefusingLimit } from '../limits/limits.ts'
import type { CoordinatesLimit, JsonBudget } from './json-budget.ts'
import { TextSearch } from './json-text.ts'

/** What a byte outside of a text is. The order matters to `#read`. */
const scalar = 0
/** Of an exponent, or of `true` and `false`. */
const letterE = 1
const text = 2
/** Spaces and commas. */
const gap = 3
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

const coordinatesKey = Buffer.from('"coordinates"')
/** Those of a MultiPolygon have the most. */
const coordinatesLevels = 4
const maxKeyBytes = limits.keyBytes.value

/** Doubles go up to 1.8e308, and hold 15 digits. */
const finiteDigits = 300
const exactDigits = 15

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39

export type JsonRange = { readonly start: number; readonly end: number }

export class JsonScanner {
  readonly #budget: JsonBudget
  readonly #path: string
  #state = between
  #depth = 0
  #keys = 0
  #values = 0
  #mostValues: number
  readonly #mostDepth: number
  readonly #mostKeys: number
  /** The bytes of the last text with its quotes, and of all pieces before this one. */
  #textStart = 0
  #textEnd = 0
  #offset = 0
  readonly #texts = new TextSearch()
  #scalarStart = 0
  #mayOverflow = false
  #mayRound = false
  readonly #coordinates: JsonRange[] = []
  /** The depth of the value of `coordinates`, 0 outside of it, and the count that rests meanwhile. */
  #coordinatesDepth = 0
  #coordinatesStart = -1
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
    this.#mostDepth = budget.depth
    this.#mostKeys = budget.keys
  }

  /** Counts the next bytes, or throws. */
  feed(bytes: Uint8Array): void {
    this.#read(bytes, 0, false)
    this.#offset += bytes.length
    this.#lastBytes = bytes.slice(-coordinatesKey.length)
  }

  /** Counts the list or object that begins there, and answers where it ends: behind all bytes, if it is not whole. */
  feedOne(bytes: Uint8Array, begin: number): number {
    return this.#read(bytes, begin, true)
  }

  /** One loop with few calls, since every byte of every body goes through it. */
  #read(bytes: Uint8Array, begin: number, endsWithValue: boolean): number {
    const { length } = bytes
    this.#texts.restart()
    let at = this.#state === between ? begin : this.#resume(bytes, begin)
    while (at < length) {
      const kind = kinds[bytes[at] as number] as number
      if (kind === gap) at++
      else if (kind < text) at = this.#beginScalar(bytes, at)
      else if (kind === text) at = this.#beginText(bytes, at)
      else if (this.#readMark(kind, bytes, at++) && endsWithValue) return at
    }
    return length + 1
  }

  /** Whether that ends the outermost value. */
  #readMark(kind: number, bytes: Uint8Array, at: number): boolean {
    if (kind === close) return this.#close(at)
    if (kind === open) this.#open(at)
    else this.#addKey(bytes)
    return false
  }

  /** Goes on with what the bytes before did not end. */
  #resume(bytes: Uint8Array, begin: number): number {
    const state = this.#state
    this.#state = between
    if (state === inScalar) return this.#skipScalar(bytes, begin)
    return this.#skipText(bytes, state === afterBackslash ? begin + 1 : begin)
  }

  #beginText(bytes: Uint8Array, at: number): number {
    if (this.#coordinatesDepth > 0) this.#addOther()
    else if (++this.#values > this.#mostValues) throw this.#tooManyValues()
    this.#textStart = this.#offset + at
    return this.#skipText(bytes, at + 1)
  }

  /** To the end of a text, or of the bytes. */
  #skipText(bytes: Uint8Array, begin: number): number {
    const { length } = bytes
    const end = this.#texts.find(bytes, begin)
    if (end < length) {
      this.#textEnd = this.#offset + end + 1
      return end + 1
    }
    this.#state = end === length ? inText : afterBackslash
    return length
  }

  #beginScalar(bytes: Uint8Array, at: number): number {
    if (++this.#values > this.#mostValues) throw this.#tooManyValues()
    this.#scalarStart = this.#offset + at
    return this.#skipScalar(bytes, at)
  }

  /** To the end of a number or a word, or of the bytes. */
  #skipScalar(bytes: Uint8Array, begin: number): number {
    const { length } = bytes
    let at = begin
    for (; at < length; at++) {
      const kind = kinds[bytes[at] as number] as number
      if (kind > letterE) break
      if (kind === letterE) this.#noteExponent(bytes, at)
    }
    if (at === length) this.#state = inScalar
    else if (this.#offset + at - this.#scalarStart > exactDigits)
      this.#noteDigits(this.#offset + at - this.#scalarStart)
    return at
  }

  /** Not that of true and false. The digit before it may be in the bytes before. */
  #noteExponent(bytes: Uint8Array, at: number): void {
    if (at > 0 && !isDigit(bytes[at - 1])) return
    this.#mayOverflow = true
    if (this.#coordinatesDepth === 0) this.#mayRound = true
  }

  #noteDigits(length: number): void {
    if (length > finiteDigits) this.#mayOverflow = true
    if (this.#coordinatesDepth === 0) this.#mayRound = true
  }

  #open(at: number): void {
    const isDeeper = this.#coordinatesDepth > 0 && this.#depth >= this.#coordinatesDepth + coordinatesLevels - 1
    if (isDeeper) this.#addOther()
    else if (++this.#values > this.#mostValues) throw this.#tooManyValues()
    if (++this.#depth > this.#mostDepth)
      throw this.#refusal('bodyDepth', this.#mostDepth, `nest deeper than ${this.#mostDepth} levels`)
    if (this.#coordinatesDepth === this.#depth) this.#coordinatesStart = this.#offset + at
  }

  #close(at: number): boolean {
    const depth = --this.#depth
    if (this.#coordinatesDepth > depth) {
      if (this.#coordinatesDepth === depth + 1 && this.#coordinatesStart !== -1)
        this.#coordinates.push({ start: this.#coordinatesStart, end: this.#offset + at + 1 })
      this.#leaveCoordinates()
    }
    return depth === 0
  }

  /** Counts what is in coordinates and no part of any, such as a text, with the values outside: it takes longer to parse. */
  #addOther(): void {
    if (++this.#restingValues > limits[this.#budget.values].value) throw this.#tooManyValues(this.#budget.values)
  }

  /** The text before a colon is a key and no value. */
  #addKey(bytes: Uint8Array): void {
    if (this.#coordinatesDepth > 0) this.#restingValues--
    else this.#values--
    if (++this.#keys > this.#mostKeys)
      throw this.#refusal('bodyKeys', this.#mostKeys, `have more than ${this.#mostKeys} keys`)
    if (this.#textEnd - this.#textStart - 2 > maxKeyBytes)
      throw this.#refusal('keyBytes', maxKeyBytes, `have keys longer than ${maxKeyBytes} bytes`)
    const { coordinates } = this.#budget
    if (coordinates) this.#noteKey(bytes, coordinates)
  }

  /** Coordinates begin behind a key called so, and have ended where the key before was called so and its value was no list. */
  #noteKey(bytes: Uint8Array, coordinates: CoordinatesLimit): void {
    if (this.#coordinatesDepth === this.#depth + 1) this.#leaveCoordinates()
    if (this.#coordinatesDepth === 0 && this.#isCoordinates(bytes)) this.#enterCoordinates(coordinates)
  }

  #isCoordinates(bytes: Uint8Array): boolean {
    if (this.#textEnd - this.#textStart !== coordinatesKey.length) return false
    const begin = this.#textStart - this.#offset
    const last = this.#lastBytes
    // It may have begun in the bytes before.
    const byteAt = (at: number) => (at < 0 ? last[last.length + at] : bytes[at])
    return coordinatesKey.every((byte, index) => byteAt(begin + index) === byte)
  }

  #enterCoordinates(name: CoordinatesLimit): void {
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

  #refusal(name: RefusingLimit, most: number, detail: string): Error {
    return overLimit(name, most, `must not ${detail}`, { path: this.#path })
  }

  #tooManyValues(name = (this.#coordinatesDepth > 0 && this.#budget.coordinates) || this.#budget.values): Error {
    const most = limits[name].value
    const what = name === this.#budget.coordinates ? 'numbers and lists in coordinates' : 'values'
    return this.#refusal(name, most, `have more than ${most} ${what}`)
  }
}

/** Throws if the JSON is over the budget. Whether it is valid JSON is seen when it is parsed. */
export function scanJson(bytes: Uint8Array, budget: JsonBudget, path?: string): JsonScanner {
  const scanner = new JsonScanner(budget, path)
  scanner.feed(bytes)
  return scanner
}
