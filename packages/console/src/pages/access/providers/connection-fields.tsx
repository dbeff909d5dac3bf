/** How the server reaches a provider, and as which client. */
import type { OidcProvider } from '@graticule/client'
import type { ReactElement } from 'react'
import { TextField } from '../../../components/field.tsx'
import { layout } from '../../../components/page.tsx'
import { SettingFields } from '../../../components/settings/setting-fields.tsx'
import classes from '../access.module.css'
import { EntryList } from '../entry-list.tsx'
import { discoveryAddress } from './discovery.ts'
import { readScope, secretField } from './provider-draft.ts'
import type { ProviderFieldsProps } from './provider-fields.ts'

interface ConnectionFieldsProps extends ProviderFieldsProps {
  provider: OidcProvider | null
}

export function ConnectionFields({ draft, faults, provider, onChange }: ConnectionFieldsProps): ReactElement {
  return (
    <>
      <TextField
        label="Name"
        hint="What a sign-in page calls it."
        value={draft.name}
        error={faults.at('name')}
        maxLength={255}
        required
        onChange={(name) => onChange({ name })}
      />
      <TextField
        label="Issuer"
        type="url"
        hint={issuerHint(draft.issuer, provider !== null)}
        placeholder="https://login.example.org/realms/maps"
        value={draft.issuer}
        error={faults.at('issuer')}
        disabled={provider !== null}
        autoComplete="off"
        spellCheck={false}
        required
        onChange={(issuer) => onChange({ issuer })}
      />
      <div className={classes.halves}>
        <TextField
          label="Client id"
          value={draft.clientId}
          error={faults.at('clientId')}
          autoComplete="off"
          spellCheck={false}
          required
          onChange={(clientId) => onChange({ clientId })}
        />
        <div className={layout.section}>
          <SettingFields
            fields={[secretField]}
            draft={draft.secret}
            stored={{ clientSecret: provider?.clientSecretSet === true }}
            faults={faults.in()}
            onChange={(secret) => onChange({ secret })}
          />
        </div>
      </div>
      <EntryList
        label="Scopes"
        hint="What the provider is asked for. openid must be among them."
        placeholder="groups"
        entries={draft.scopes}
        error={faults.at('scopes')}
        read={readScope}
        onChange={(scopes) => onChange({ scopes })}
      />
    </>
  )
}

function issuerHint(issuer: string, isFixed: boolean): string {
  const address = discoveryAddress(issuer)
  const discovery = address ? `Its addresses and keys are read from ${address}` : 'Its address, as its tokens name it.'
  return isFixed ? `It cannot change: make another provider. ${discovery}` : discovery
}
