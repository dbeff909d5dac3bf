// Registry of dataset types.
import { ApiError } from '../../kernel/errors.ts'
import type { DatasetType } from './dataset-type.ts'
import { lambdaType } from './types/lambda.ts'
import { restType } from './types/rest.ts'
import { sqlType } from './types/sql.ts'
import { tableType } from './types/table.ts'

/** The keys are the types of records and the API's enum. */
const types = { table: tableType, sql: sqlType, rest: restType, lambda: lambdaType } satisfies Record<
  string,
  DatasetType
>

type DatasetTypeName = keyof typeof types

export const datasetTypeNames = Object.keys(types) as DatasetTypeName[]

/** The type of a record. A newer version of the service may have stored one that is unknown here. */
export function datasetTypeOf({ type }: { readonly type?: unknown }): DatasetType {
  const name = String(type)
  if (Object.hasOwn(types, name)) return types[name as DatasetTypeName]
  throw new ApiError('unavailable', `This server does not know datasets of type ${name}.`)
}
