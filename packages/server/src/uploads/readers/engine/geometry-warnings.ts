import type { Warning } from '../reader.ts'
import type { RowFault } from './impossible-rows.ts'

/** What to tell of geometries that are not there. */
export function geometryWarnings(found: {
  invalidCount: number
  /** The first of them, where they are known. */
  first?: readonly RowFault[]
  missingCount: number
  hasGeometry: boolean
}): Warning[] {
  const { invalidCount, first = [], missingCount, hasGeometry } = found
  const warnings: Warning[] = []
  if (invalidCount > 0) {
    const features = first.flatMap(({ feature }) => feature ?? [])
    const places =
      features.length === 0 ? '' : ` (${features.join(', ')}${invalidCount > features.length ? ', …' : ''})`
    const message = `Some geometries are not valid (too few points, wrong nesting, values that are not numbers). Their features${places} were loaded without geometry.`
    warnings.push({ code: 'invalid_geometry', message, count: invalidCount })
  }
  if (missingCount > 0 && hasGeometry) {
    warnings.push({ code: 'missing_geometry', message: 'Some features have no geometry.', count: missingCount })
  }
  return warnings
}
