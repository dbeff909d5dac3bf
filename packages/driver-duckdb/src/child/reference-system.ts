import type { GeometryFact } from '../messages.ts'

/** Coordinate reference systems as files write them: PROJJSON, or `authority:code`. */
export type System = Pick<GeometryFact, 'srid' | 'system'>

const wgs84 = 4326

export function systemOf(crs: unknown): System {
  if (crs === undefined || crs === null || crs === '') return { srid: 0 }
  const system = typeof crs === 'string' ? parsed(crs) : crs
  if (typeof system === 'string') return ofAuthority(system)
  const { id, name } = system as { id?: { authority?: unknown; code?: unknown }; name?: unknown }
  if (id?.authority !== undefined && id.code !== undefined) return ofAuthority(`${id.authority}:${id.code}`)
  return { srid: 0, system: String(name ?? 'a system without a name').slice(0, 100) }
}

function parsed(text: string): unknown {
  if (!text.trimStart().startsWith('{')) return text
  try {
    return JSON.parse(text)
  } catch {
    return text.slice(0, 100)
  }
}

function ofAuthority(name: string): System {
  const [, authority = '', code = ''] = /^\s*(?:srid|([a-z]+)):([\w.]+)\s*$/i.exec(name) ?? []
  if (/^ogc$/i.test(authority) && /^crs84h?$/i.test(code)) return { srid: wgs84 }
  if (/^(epsg)?$/i.test(authority) && /^\d{1,6}$/.test(code)) return { srid: Number(code) }
  return { srid: 0, system: name.slice(0, 100) }
}
