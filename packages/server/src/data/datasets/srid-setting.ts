// The setting `metadata.srid` of datasets: the reference system of geometries that have none.
import { invalid } from '../../kernel/errors.ts'
import type { Connection } from '../../query/execution/connection.ts'
import type { SelectOptions } from '../../query/execution/select-options.ts'

type Metadata = Readonly<Record<string, unknown>>

const path = 'body/metadata/srid'
const greatest = 999_999

/** Throws a 400 unless it is absent or can be a code. */
export function checkSridSetting({ srid }: Metadata): void {
  if (srid === undefined || (Number.isInteger(srid) && Number(srid) > 0 && Number(srid) <= greatest)) return
  throw invalid(path, `must be the code of a reference system from 1 to ${greatest}, such as 2056`)
}

/** Throws a 400 unless the database knows the system. */
export async function checkKnownSrid(
  connection: Connection,
  { srid }: Metadata,
  options: SelectOptions,
): Promise<void> {
  if (srid === undefined || (await connection.projection(Number(srid), options)) !== undefined) return
  throw invalid(path, `must be a reference system that the database knows: ${srid} is not in its spatial_ref_sys`)
}
