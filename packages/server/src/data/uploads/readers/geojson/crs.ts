/** The SRID that a `crs` member names, such as urn:ogc:def:crs:EPSG::28992; undefined when it says nothing. */
export function sridOfCrs(crs: unknown): number | undefined {
  const name = nameOf(crs)
  if (name === undefined) return undefined
  if (/CRS:?84h?$/i.test(name)) return 4326
  const code = /EPSG.*?(\d{4,6})$/i.exec(name)?.[1]
  return code === undefined ? undefined : Number(code)
}

function nameOf(crs: unknown): string | undefined {
  const properties = member(crs, 'properties')
  // The draft of 2008 also had {"type": "EPSG", "properties": {"code": 28992}}.
  const code = member(properties, 'code')
  const name = member(properties, 'name') ?? (code === undefined ? undefined : `EPSG:${code}`)
  return typeof name === 'string' ? name.trim() : undefined
}

function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
}
