/** What the parts of a provider's form have in common. */
import type { Faults } from '../../../components/faults/faults.ts'
import type { ProviderDraft } from './provider-draft.ts'

export interface ProviderFieldsProps {
  draft: ProviderDraft
  faults: Faults
  onChange(part: Partial<ProviderDraft>): void
}
