/** The props of the settings form's parts. */
import type { Dataset } from '@graticule/client'
import type { SettingsDraft } from './draft.ts'

export interface FieldsProps {
  dataset: Dataset
  draft: SettingsDraft
  change(values: Partial<SettingsDraft>): void
  /** The server's error for a field of the record: `name`, `metadata/rest/path`. */
  errorAt(path: string): string | undefined
}
