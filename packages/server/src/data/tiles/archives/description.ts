import { createHash } from 'node:crypto'
import type { ArchiveInfo, VectorLayer } from './archive.ts'

// Parses archive metadata. Any field may be missing, of another type, or huge.

const maxLayers = 500
const maxFields = 1_000
const maxText = 10_000
export const maxZoomOfAll = 30

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

export function parseObject(text: string): Json {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

export function textsOf({ name, description, attribution }: Json) {
  return { ...textAs('name', name), ...textAs('description', description), ...textAs('attribution', attribution) }
}

function textAs<Key extends string>(key: Key, value: unknown): { [key in Key]?: string } {
  return typeof value === 'string' && value !== ''
    ? ({ [key]: value.slice(0, maxText) } as { [key in Key]: string })
    : {}
}

export function vectorLayersOf(value: unknown): VectorLayer[] {
  return Array.isArray(value) ? value.slice(0, maxLayers).flatMap(vectorLayerOf) : []
}

function vectorLayerOf(value: unknown): VectorLayer[] {
  if (!isObject(value) || typeof value.id !== 'string') return []
  const fields = Object.entries(isObject(value.fields) ? value.fields : {})
    .slice(0, maxFields)
    .map(([name, type]) => [name.slice(0, 1_000), typeof type === 'string' ? type.slice(0, 1_000) : ''])
  return [
    {
      id: value.id.slice(0, 1_000),
      fields: Object.fromEntries(fields),
      ...zoomAs('minzoom', value.minzoom),
      ...zoomAs('maxzoom', value.maxzoom),
      ...textAs('description', value.description),
    },
  ]
}

function zoomAs<Key extends string>(key: Key, value: unknown): { [key in Key]?: number } {
  const zoom = zoomOf(value)
  return zoom === undefined ? {} : ({ [key]: zoom } as { [key in Key]: number })
}

export function zoomOf(value: unknown): number | undefined {
  const zoom = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof zoom === 'number' && Number.isInteger(zoom) && zoom >= 0 && zoom <= maxZoomOfAll ? zoom : undefined
}

export const world: ArchiveInfo['bounds'] = [-180, -85.051129, 180, 85.051129]

/** West, south, east, north in degrees; undefined if the box is empty. */
export function boundsOf(numbers: readonly number[]): ArchiveInfo['bounds'] | undefined {
  const [west = Number.NaN, south = Number.NaN, east = Number.NaN, north = Number.NaN] = numbers
  if (numbers.length !== 4 || !(west < east && south < north)) return undefined
  if (!(west < 180 && east > -180 && south < 90 && north > -90)) return undefined
  return [Math.max(west, -180), Math.max(south, -90), Math.min(east, 180), Math.min(north, 90)]
}

export function centerOf(numbers: readonly number[]): ArchiveInfo['center'] | undefined {
  const [longitude = Number.NaN, latitude = Number.NaN, zoom = Number.NaN] = numbers
  const isPlace = Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90 && zoom >= 0 && zoom <= maxZoomOfAll
  return isPlace ? [longitude, latitude, zoom] : undefined
}

/** `1,2,3,4` */
export const numbersOf = (text: string | undefined): number[] =>
  (text ?? '')
    .slice(0, 200)
    .split(',')
    .map((part) => (part.trim() === '' ? Number.NaN : Number(part)))

/** A hash, so that any version text fits into a URL or an ETag. */
export const versionOf = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 16)
