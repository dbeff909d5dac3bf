import type { Warning } from './reader.ts'

/** What to tell of geometries that are not there. */
export function geometryWarnings(found: {
  invalidCount: number
  missingCount: number
  hasGeometry: boolean
}): Warning[] {
  const { invalidCount, missingCount, hasGeometry } = found
  const warnings: Warning[] = []
  if (invalidCount > 0) {
    const message =
      'Geometries that are none (too few points, wrong nesting, no numbers) were left out; the rest of the features is loaded.'
    warnings.push({ code: 'invalid_geometry', message, count: invalidCount })
  }
  if (missingCount > 0 && hasGeometry) {
    warnings.push({ code: 'missing_geometry', message: 'Some features have no geometry.', count: missingCount })
  }
  return warnings
}
