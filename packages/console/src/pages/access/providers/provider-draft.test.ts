import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OidcProvider } from '@graticule/client'
import { discoveryAddress } from './discovery.ts'
import { draftOf, emptyProvider, patchOf, providerOf, readDomain, readScope } from './provider-draft.ts'

const provider = {
  name: 'Office',
  issuer: 'https://login.example.org',
  clientId: 'maps',
  clientSecretSet: true,
  scopes: ['openid', 'email'],
  mapping: { roles: 'groups', metadata: { unit: 'department', team: 'team' } },
  emailDomains: ['example.org'],
  createsUsers: true,
  linksUsers: false,
  secondFactor: 'demanded',
  acceptsTokens: false,
  audience: null,
  enabled: true,
} as unknown as OidcProvider

test('a form that nobody touched changes nothing, and sends no secret', () => {
  assert.deepEqual(patchOf(provider, draftOf(provider)), {})
})

test('a change sends what was changed, with null for what was taken away', () => {
  const draft = draftOf(provider)
  const mapping = { ...draft.mapping, roles: '', metadata: 'team: group', email: 'mail' }
  assert.deepEqual(patchOf(provider, { ...draft, mapping, linksUsers: true }), {
    mapping: { email: 'mail', roles: null, metadata: { unit: null, team: 'group' } },
    linksUsers: true,
  })
})

test('a secret is kept, replaced or removed', () => {
  const draft = draftOf(provider)
  assert.deepEqual(patchOf(provider, { ...draft, secret: { clientSecret: 'new' } }), { clientSecret: 'new' })
  assert.deepEqual(patchOf(provider, { ...draft, secret: { clientSecret: null } }), { clientSecret: null })
})

test('a new provider asks for the usual scopes and lets nobody in', () => {
  const made = providerOf({
    ...emptyProvider,
    name: ' Office ',
    issuer: 'https://login.example.org ',
    clientId: 'maps',
  })
  assert.deepEqual([made.name, made.issuer, made.scopes], ['Office', provider.issuer, ['openid', 'profile', 'email']])
  assert.deepEqual([made.createsUsers, made.linksUsers, made.audience], [false, false, null])
  assert.ok(!('clientSecret' in made))
})

test('domains are read as the server wants them, and scopes one by one', () => {
  assert.deepEqual(readDomain(' @Example.ORG '), { value: 'example.org' })
  for (const text of ['example', 'a b.org', 'https://example.org', '-a.org'])
    assert.ok('fault' in readDomain(text), text)
  assert.deepEqual(readScope(' groups '), { value: 'groups' })
  assert.ok('fault' in readScope('openid email'))
})

test('the discovery address is below the issuer, with or without a slash at its end', () => {
  const wellKnown = 'https://login.example.org/realms/a/.well-known/openid-configuration'
  assert.equal(discoveryAddress('https://login.example.org/realms/a'), wellKnown)
  assert.equal(discoveryAddress(' https://login.example.org/realms/a/ '), wellKnown)
  for (const text of ['', 'https://', 'login.example.org', 'https://a.org?x=1'])
    assert.equal(discoveryAddress(text), undefined, text)
})
