import type { GeometryType } from '../../../../query/geometry/geometry-type.ts'
import type { FixedText } from './fixed-text.ts'

/** What the bytes of a gap name, as bits: a feature has each once. */
export const member = { type: 1, properties: 2, geometry: 4, geometryType: 8, coordinates: 16 } as const

/** A feature has a type, and no geometry or all of one. */
export function isWhole(members: number): boolean {
  const geometry = members & wholeGeometry
  return (members & member.type) !== 0 && (geometry === 0 || geometry === wholeGeometry)
}

const wholeGeometry = member.geometry | member.geometryType | member.coordinates

/** What follows a gap, besides the values of fields. */
export const afterGap = { coordinates: -1, skippedValue: -2, end: -3 } as const

/**
 * The bytes between two values of a feature: names, brackets and blanks. A program writes them alike in all features, so they
 * are recognised, not parsed. They are the edges of a graph and a feature is a path through it, so that it does not matter
 * which properties a feature has, in which order its members are and how they are indented.
 */
export type Gap = {
  readonly text: FixedText
  /** Bits of `member`. */
  readonly members: number
  /** The field of the value behind it, or one of `afterGap`. */
  readonly place: number
  /** The type that the text names; where coordinates come before their type, the one that they had before. */
  readonly shape: GeometryType | 'missing' | undefined
  readonly next: Junction
}

/** The end of a value, and the gaps that were seen there, the frequent ones first. */
export type Junction = { readonly isProperty: boolean; readonly gaps: Gap[] }

/** How the features of a file are written, so far as was seen. */
export type Layout = {
  readonly start: Junction
  /** Behind the values of the fields. */
  readonly properties: Junction[]
  /** Behind the values of other members. */
  readonly members: Map<string, Junction>
  /** Features that are written in ever new ways are not learned for ever. */
  lessonsLeft: number
  bytesLeft: number
}

const lessons = 1_000
const mostBytes = 256 * 1024
const mostGaps = 32

export function createLayout(isFast: boolean): Layout {
  return {
    start: createJunction(false),
    properties: [],
    members: new Map(),
    lessonsLeft: isFast ? lessons : 0,
    bytesLeft: mostBytes,
  }
}

export const createJunction = (isProperty: boolean): Junction => ({ isProperty, gaps: [] })

export function afterField({ properties }: Layout, field: number): Junction {
  while (properties.length <= field) properties.push(createJunction(true))
  return properties[field] as Junction
}

export function addGap(layout: Layout, { gaps }: Junction, gap: Gap): Gap {
  const { length } = gap.text
  if (gaps.length >= mostGaps || length > layout.bytesLeft) return gap
  layout.bytesLeft -= length
  gaps.push(gap)
  return gap
}
