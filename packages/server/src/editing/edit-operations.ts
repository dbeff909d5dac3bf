import type { Operation } from '../http/operation.ts'
import type { EditServices } from './editing.ts'
import { filterOperations } from './filter-operations.ts'
import { insertOperation } from './insert-operation.ts'
import { rowOperations } from './row-operations.ts'

/** The operations that write the rows of datasets. */
export const editOperations: readonly Operation<EditServices>[] = [
  insertOperation,
  ...filterOperations,
  ...rowOperations,
]
