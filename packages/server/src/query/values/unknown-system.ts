// Geometries whose reference system nobody has stated.
import { ApiError } from '../../kernel/errors.ts'
import type { Attribute } from './attribute.ts'

/** A 400 for a geometry without a reference system whose coordinates are no degrees: any place given for them would be wrong. */
export function demandSystem({ name, isOutsideDegrees }: Attribute): void {
  if (!isOutsideDegrees) return
  throw new ApiError(
    'invalid_request',
    `The reference system of "${name}" is not known: it has no SRID, and its coordinates are not longitudes and latitudes. ` +
      'Set metadata.srid of the dataset to the code of its system, such as 2056; format=csv and attributes without the geometry can be read.',
  )
}
