/** Labels of the dataset types. */
import type { DatasetType } from './data-search.ts'

export const typeNames: Record<DatasetType, string> = {
  table: 'Table',
  sql: 'SQL query',
  rest: 'Web service',
  lambda: 'Lambda function',
}
