/** The form's values of a provider, and the body that it sends. */
import type { OidcProvider, OidcProviderCreate, OidcProviderPatch } from '@graticule/client'
import {
  type SettingDraft,
  type SettingField,
  draftOf as settingsDraftOf,
  settingsOf,
} from '../../../components/settings/setting-values.ts'
import { mergePatchOf } from '../merge-patch.ts'

export const secretField: SettingField = {
  name: 'clientSecret',
  label: 'Client secret',
  kind: 'text',
  isSecret: true,
  hint: 'Sealed on the server, never shown again. A public client has none.',
}

/** The claims that become the address and the name of a user, by the names of `mapping`; where empty, the claims of the placeholders. */
export const profileFields: readonly SettingField[] = [
  { name: 'email', label: 'E-mail', kind: 'text', placeholder: 'email' },
  { name: 'emailVerified', label: 'E-mail is verified', kind: 'text', placeholder: 'email_verified' },
  { name: 'firstName', label: 'First name', kind: 'text', placeholder: 'given_name' },
  { name: 'lastName', label: 'Last name', kind: 'text', placeholder: 'family_name' },
]

export const rolesField: SettingField = {
  name: 'roles',
  label: 'Roles',
  kind: 'text',
  hint: 'Such as realm_access.roles. With it the provider alone decides which roles its users have; empty, they are given here.',
}

export const recordFields: readonly SettingField[] = [
  {
    name: 'metadata',
    label: 'Metadata of the user',
    kind: 'pairs',
    placeholder: 'unit: department',
    hint: 'One per line: the field, and the claim that it is taken from.',
  },
  {
    name: 'claims',
    label: 'Values of the session',
    kind: 'pairs',
    placeholder: 'districts: districts',
    hint: 'One per line: the name, and the claim. Rules of datasets ask for them.',
  },
]

const mappingFields = [...profileFields, rolesField, ...recordFields]

export interface ProviderDraft {
  name: string
  issuer: string
  clientId: string
  secret: SettingDraft
  scopes: readonly string[]
  mapping: SettingDraft
  /** In lower case. */
  emailDomains: readonly string[]
  createsUsers: boolean
  linksUsers: boolean
  secondFactor: OidcProvider['secondFactor']
  acceptsTokens: boolean
  audience: string
  isEnabled: boolean
}

export const emptyProvider: ProviderDraft = {
  name: '',
  issuer: '',
  clientId: '',
  secret: settingsDraftOf([secretField], {}),
  scopes: ['openid', 'profile', 'email'],
  mapping: settingsDraftOf(mappingFields, {}),
  emailDomains: [],
  createsUsers: false,
  linksUsers: false,
  secondFactor: 'demanded',
  acceptsTokens: false,
  audience: '',
  isEnabled: true,
}

export const draftOf = ({ mapping, audience, enabled, ...provider }: OidcProvider): ProviderDraft => ({
  ...provider,
  secret: emptyProvider.secret,
  mapping: settingsDraftOf(mappingFields, mapping),
  audience: audience ?? '',
  isEnabled: enabled,
})

export const providerOf = (draft: ProviderDraft): OidcProviderCreate => ({
  name: draft.name.trim(),
  issuer: draft.issuer.trim(),
  clientId: draft.clientId.trim(),
  ...(settingsOf([secretField], draft.secret) as Pick<OidcProviderCreate, 'clientSecret'>),
  scopes: [...draft.scopes],
  mapping: settingsOf(mappingFields, draft.mapping) as OidcProvider['mapping'],
  emailDomains: [...draft.emailDomains],
  createsUsers: draft.createsUsers,
  linksUsers: draft.linksUsers,
  secondFactor: draft.secondFactor,
  acceptsTokens: draft.acceptsTokens,
  audience: draft.audience.trim() || null,
  enabled: draft.isEnabled,
})

/** What the form changed. */
export const patchOf = (provider: OidcProvider, draft: ProviderDraft): OidcProviderPatch =>
  mergePatchOf({ ...providerOf(draftOf(provider)) }, { ...providerOf(draft) }) as OidcProviderPatch

type Entry = { value: string } | { fault: string }

/** Reads `@Example.org` and `example.org` alike. */
export function readDomain(text: string): Entry {
  const value = text.trim().replace(/^@/, '').toLowerCase()
  if (/^(?:[a-z0-9](?:[a-z0-9-]{0,62})\.)+[a-z0-9-]{2,63}$/.test(value)) return { value }
  return { fault: 'Must be a domain such as example.org.' }
}

export function readScope(text: string): Entry {
  const value = text.trim()
  return /^[!#-[\]-~]{1,100}$/.test(value)
    ? { value }
    : { fault: 'Must be one scope, without blanks: add them one by one.' }
}
