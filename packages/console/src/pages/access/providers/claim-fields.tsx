/** What claims of a provider become. */
import type { ReactElement } from 'react'
import { SettingFields } from '../../../components/settings/setting-fields.tsx'
import type { SettingDraft } from '../../../components/settings/setting-values.ts'
import classes from '../access.module.css'
import { profileFields, recordFields, rolesField } from './provider-draft.ts'
import type { ProviderFieldsProps } from './provider-fields.ts'

export function ClaimFields({ draft, faults, onChange }: ProviderFieldsProps): ReactElement {
  const shared = {
    draft: draft.mapping,
    faults: faults.in('mapping'),
    onChange: (mapping: SettingDraft) => onChange({ mapping }),
  }
  return (
    <section className={classes.part}>
      <h3>What its claims become</h3>
      <p className={classes.hint}>
        Names of claims, also of those within others. Each sign-in updates the user. Left empty, address and names are
        taken from the claims in grey.
      </p>
      <div className={classes.pair}>
        <SettingFields fields={profileFields} {...shared} />
      </div>
      <SettingFields fields={[rolesField]} {...shared} />
      <div className={classes.halves}>
        <SettingFields fields={recordFields} {...shared} />
      </div>
    </section>
  )
}
