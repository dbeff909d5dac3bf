/** An icon for the geometry type of a dataset: points, lines, areas, mixed, or none. */
import type { ReactElement } from 'react'

export type GeometryKind = 'point' | 'line' | 'area' | 'mixed' | 'table'

const names: Record<GeometryKind, string> = {
  point: 'Points',
  line: 'Lines',
  area: 'Areas',
  mixed: 'Geometries of several kinds',
  table: 'No geometry',
}

const shapes: Record<GeometryKind, ReactElement> = {
  point: (
    <g fill="currentColor" stroke="none">
      <circle cx="4.5" cy="11" r="2.2" />
      <circle cx="8.5" cy="4.5" r="2.2" />
      <circle cx="12.5" cy="10" r="2.2" />
    </g>
  ),
  line: <path d="M1.5 12.5 6 5l4 5 4.5-7" />,
  area: <path d="M2 6 8 1.5l6 4-2 8.5H4.5z" fill="currentColor" fillOpacity="0.35" />,
  mixed: (
    <>
      <path d="M1.5 7 6 2l3.5 4-2.5 4z" fill="currentColor" fillOpacity="0.35" />
      <circle cx="12.5" cy="12" r="2" fill="currentColor" stroke="none" />
    </>
  ),
  table: <path d="M1.75 2.75h12.5v10.5H1.75zM1.75 6.25h12.5M6 2.75v10.5" />,
}

/** Reads type names of PostGIS and files, such as `Point` and `MULTIPOLYGON Z`; null if there is no geometry. */
export function geometryKind(type: string | null | undefined): GeometryKind {
  if (type === null || type === undefined) return 'table'
  if (/point/i.test(type)) return 'point'
  if (/line|curve/i.test(type)) return 'line'
  return /polygon|surface|tin|triangle/i.test(type) ? 'area' : 'mixed'
}

interface GeometryGlyphProps {
  kind: GeometryKind
}

export function GeometryGlyph({ kind }: GeometryGlyphProps): ReactElement {
  return (
    <svg
      role="img"
      aria-label={names[kind]}
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinejoin="round"
    >
      <title>{names[kind]}</title>
      {shapes[kind]}
    </svg>
  )
}
