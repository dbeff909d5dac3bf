/** Whether a provider's own access tokens are taken. */
import type { ReactElement } from 'react'
import { Checkbox, TextField } from '../../../components/field.tsx'
import classes from '../access.module.css'
import type { ProviderFieldsProps } from './provider-fields.ts'

export function TokenFields({ draft, faults, onChange }: ProviderFieldsProps): ReactElement {
  return (
    <section className={classes.part}>
      <h3>Its own access tokens</h3>
      <Checkbox
        label="Take access tokens (JWT) of the provider as Authorization: Bearer"
        isChecked={draft.acceptsTokens}
        onChange={(acceptsTokens) => onChange({ acceptsTokens })}
      />
      {draft.acceptsTokens && (
        <TextField
          label="Audience"
          hint="What aud of the tokens must name: this server at the provider, never the client id."
          placeholder="https://maps.example.org/api"
          value={draft.audience}
          error={faults.at('audience')}
          autoComplete="off"
          spellCheck={false}
          onChange={(audience) => onChange({ audience })}
        />
      )}
    </section>
  )
}
