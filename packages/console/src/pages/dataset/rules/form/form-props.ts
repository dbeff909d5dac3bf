/** The props of the parts of a rule's form. */
import type { RuleDraft } from './rule-draft.ts'

export interface RulePartProps {
  draft: RuleDraft
  change(part: Partial<RuleDraft>): void
}
