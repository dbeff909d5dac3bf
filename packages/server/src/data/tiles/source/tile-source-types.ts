// Registry of tile source types.
import { ApiError } from '../../../kernel/errors.ts'
import type { TileSourceType } from './tile-source-type.ts'
import { archiveType } from './types/archive.ts'
import { datasetType } from './types/dataset.ts'

/** The keys are the types of records, the API's enum and the list of drivers. */
const types = { dataset: datasetType, tilelive: archiveType } satisfies Record<string, TileSourceType>

type TileSourceTypeName = keyof typeof types

export const tileSourceTypeNames = Object.keys(types) as TileSourceTypeName[]

/** The type of a record. A newer version of the service may have stored one that is unknown here. */
export function tileSourceTypeOf({ type }: { readonly type?: unknown }): TileSourceType {
  const name = String(type)
  if (Object.hasOwn(types, name)) return types[name as TileSourceTypeName]
  throw new ApiError('unavailable', `This server does not know tile sources of type ${name}.`)
}
