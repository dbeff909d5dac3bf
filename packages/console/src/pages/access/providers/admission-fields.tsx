/** Who may come by a provider. */
import type { ReactElement } from 'react'
import { Checkbox, Segmented } from '../../../components/field.tsx'
import { layout } from '../../../components/page.tsx'
import classes from '../access.module.css'
import { EntryList } from '../entry-list.tsx'
import { readDomain } from './provider-draft.ts'
import type { ProviderFieldsProps } from './provider-fields.ts'
import { whoMayCome } from './provider-words.ts'

const secondFactors = [
  { value: 'demanded' as const, label: 'Ask here, too' },
  { value: 'trusted' as const, label: 'Trust the provider' },
]

export function AdmissionFields({ draft, faults, onChange }: ProviderFieldsProps): ReactElement {
  return (
    <section className={classes.part}>
      <h3>Who may come</h3>
      <p role="status" aria-label="Who may come">
        {whoMayCome(draft)}
      </p>
      <EntryList
        label="E-mail domains"
        hint="If there are any, only verified addresses in them come in, each time."
        placeholder="example.org"
        entries={draft.emailDomains}
        error={faults.at('emailDomains')}
        read={readDomain}
        onChange={(emailDomains) => onChange({ emailDomains })}
      />
      <Checkbox
        label="Make a user of whoever comes for the first time with a verified address"
        isChecked={draft.createsUsers}
        onChange={(createsUsers) => onChange({ createsUsers })}
      />
      <Checkbox
        label="Whoever comes for the first time may be the user of the same verified address"
        isChecked={draft.linksUsers}
        onChange={(linksUsers) => onChange({ linksUsers })}
      />
      <div className={layout.section}>
        <span className={classes.label}>Second factor</span>
        <Segmented
          label="Second factor"
          value={draft.secondFactor}
          options={secondFactors}
          onChange={(secondFactor) => onChange({ secondFactor })}
        />
        <p className={classes.hint}>{factorHints[draft.secondFactor]}</p>
      </div>
    </section>
  )
}

const factorHints = {
  demanded: 'Users with a second factor here, or of an application that demands one, show it after the provider’s.',
  trusted: 'The provider’s log-in is enough, also where this application demands a second factor.',
}
