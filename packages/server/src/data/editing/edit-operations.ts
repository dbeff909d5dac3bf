import type { Operation } from '../../api/http/operation.ts'
import { changeColumn, columnConversion } from './change-column.ts'
import { columnOperations } from './column-operations.ts'
import type { EditServices } from './editing.ts'
import { filterOperations } from './filter-operations.ts'
import { insertOperation } from './insert-operation.ts'
import { rowOperations } from './rows/row-operations.ts'

/** The operations that write the rows and columns of datasets. */
export const editOperations: readonly Operation<EditServices>[] = [
  insertOperation,
  ...filterOperations,
  ...rowOperations,
  ...columnOperations,
  changeColumn,
  columnConversion,
]
