/** What the client says of a table, whatever it looks like: the upload fields `geometry`, `types`, `dateOrder`, `decimal`, `nulls` and `header`. */

/** Which of day, month and year comes first. */
export const dateOrders = ['dmy', 'mdy', 'ymd'] as const
export type DateOrder = (typeof dateOrders)[number]

export const decimalMarks = [',', '.'] as const
export type DecimalMark = (typeof decimalMarks)[number]

/** How the values of all columns are written. */
export type LocalRules = { readonly dateOrder?: DateOrder | undefined; readonly decimal?: DecimalMark | undefined }

/** Types that the client may give to columns, by the names that attributes of datasets have. */
export const columnTypes = [
  'string',
  'integer',
  'number',
  'boolean',
  'date',
  'datetime',
  'time',
  'uuid',
  'json',
] as const

export type TableColumnType = (typeof columnTypes)[number]

export type TableRules = LocalRules & {
  /** `none`, a column, a pair of columns, or the four sides of a box. */
  readonly geometry?: string | undefined
  readonly types?: Readonly<Record<string, TableColumnType>> | undefined
  /** Cells that hold nothing. */
  readonly nulls?: readonly string[] | undefined
  /** Whether the first row, below titles, names the columns. */
  readonly header?: boolean | undefined
}

export const tableFields = ['geometry', 'types', 'dateOrder', 'decimal', 'nulls', 'header'] as const

/** The rules among other options, without those that are not given. */
export const tableRulesOf = (options: TableRules): TableRules =>
  Object.fromEntries(tableFields.flatMap((field) => (options[field] === undefined ? [] : [[field, options[field]]])))
