// Settings of rest datasets.
import { FaultCollector, invalid } from '../../../kernel/errors.ts'
import { unknownName } from '../../../kernel/nearest-name.ts'
import { isObject } from './json-rows.ts'
import type { PointFields } from './point-geometry.ts'

/** `metadata.rest`: the path of the rows in the answer, and the fields that form a point. */
export type RestSettings = { readonly path?: string; readonly point?: PointFields }

const root = 'body/metadata/rest'
const members = ['path', 'point']
const pointMembers = ['lat', 'lon']
const pointExample = '{"lat": "latitude", "lon": "longitude"}'

/** Throws unless the settings are absent or well-formed. */
export function checkRestSettings(rest: unknown): void {
  if (rest === undefined || rest === null) return
  if (!isObject(rest)) throw invalid(root, `must be an object such as {"path": "data.items", "point": ${pointExample}}`)
  const faults = new FaultCollector()
  faults.attempt(() => checkMembers(rest, root, members))
  faults.attempt(() => checkPath(rest.path))
  faults.attempt(() => checkPoint(rest.point))
  faults.finish()
}

function checkPath(path: unknown): void {
  if (path !== undefined && typeof path !== 'string') {
    throw invalid(`${root}/path`, 'must be text such as "data.items"')
  }
}

function checkPoint(point: unknown): void {
  if (point === undefined || point === null) return
  const path = `${root}/point`
  if (!isObject(point)) throw invalid(path, `must be an object such as ${pointExample}`)
  checkMembers(point, path, pointMembers)
  for (const name of pointMembers) {
    if (typeof point[name] !== 'string' || point[name] === '') {
      throw invalid(`${path}/${name}`, `must be the name of a field, such as in ${pointExample}`)
    }
  }
}

function checkMembers(value: object, path: string, names: readonly string[]): void {
  const unknownKey = Object.keys(value).find((name) => !names.includes(name))
  if (unknownKey !== undefined) {
    throw invalid(`${path}/${unknownKey.slice(0, 80)}`, unknownName('a setting of rest datasets', unknownKey, names))
  }
}

/** The well-formed part of the settings: metadata can also be written unchecked. */
export function restSettings({ rest }: Readonly<Record<string, unknown>>): RestSettings {
  if (!isObject(rest)) return {}
  const { path, point } = rest
  const { lat, lon } = isObject(point) ? point : {}
  return {
    ...(typeof path === 'string' && { path }),
    ...(typeof lat === 'string' && typeof lon === 'string' && { point: { lat, lon } }),
  }
}
