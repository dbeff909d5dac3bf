/** The rules of a dataset as the page has changed them, and the patch of the changes. */
import type { Dataset, DatasetPatch } from '@graticule/client'
import { isEqual } from '../settings/merge-patch.ts'
import type { BoundCallers, Rule } from './rule.ts'

export interface RulesDraft {
  /** Null: none, so that keys decide alone. An empty list lets nobody in whom rules bind. */
  rules: readonly Rule[] | null
  rulesFor: BoundCallers
}

type Ruled = Pick<Dataset, 'rules' | 'rulesFor'>

export const draftOf = ({ rules, rulesFor }: Ruled): RulesDraft => ({ rules, rulesFor })

export const areSameRules = (one: Ruled | RulesDraft, other: Ruled | RulesDraft): boolean =>
  isEqual(one.rules, other.rules) && one.rulesFor === other.rulesFor

/** Only what was changed. */
export const patchOf = (read: Ruled, { rules, rulesFor }: RulesDraft): DatasetPatch => ({
  ...(!isEqual(read.rules, rules) && { rules: rules && [...rules] }),
  ...(read.rulesFor !== rulesFor && { rulesFor }),
})

/** The rule at an index replaced by others: none to remove it. */
export const withRule = (draft: RulesDraft, index: number, ...rules: readonly Rule[]): RulesDraft => ({
  ...draft,
  rules: (draft.rules ?? []).toSpliced(index, 1, ...rules),
})

export const withMore = (draft: RulesDraft, ...rules: readonly Rule[]): RulesDraft => ({
  ...draft,
  rules: [...(draft.rules ?? []), ...rules],
})
