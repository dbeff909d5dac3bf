// What rules leave of a dataset for a caller.
import type { Filter } from '../../../query/filter/filter-tree.ts'
import type { Attributes } from '../../../query/values/attribute.ts'
import type { RuleLevel } from './rule.ts'

/** Where `rows` is true, and `attributes` are all that is written. */
export type WriteRule = {
  readonly rows: Filter
  /** All attributes where it is undefined. */
  readonly attributes: ReadonlySet<string> | undefined
  /** What the server writes, by column; undefined where the caller lacks one of the values, so that nothing can be written. */
  readonly set: Readonly<Record<string, unknown>> | undefined
}

export type Narrowing = {
  /** Equal for callers who see the same. */
  readonly digest: string
  /** The rows that may be seen. It may name attributes that may not. */
  readonly rows: Filter
  /** Attributes that are seen in some of these rows only, and in which. */
  readonly masks: ReadonlyMap<string, Filter>
  /** All attributes of the dataset, hidden ones too: for conditions of rules. */
  readonly whole: Attributes
  readonly writes: Readonly<Record<Exclude<RuleLevel, 'read'>, readonly WriteRule[]>>
}
