/** A rule of a dataset, as the record has it. */
import type { Dataset } from '@graticule/client'

export type Rule = NonNullable<Dataset['rules']>[number]
export type RuleLevel = Rule['levels'][number]
export type BoundCallers = Dataset['rulesFor']

export const ruleLevels: readonly RuleLevel[] = ['read', 'append', 'change', 'delete']
