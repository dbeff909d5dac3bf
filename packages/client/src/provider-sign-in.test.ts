import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { shownBy } from '../../server/testing/authenticator.ts'
import { type OidcPeer, oidcProvider } from '../../server/testing/peers/oidc-provider.ts'
import { page, signInBrowser } from '../../server/testing/sign-in-browser.ts'
import { type ClientServer, clientServer } from '../testing/client-server.ts'
import type { AuthChange, Client } from './client.ts'

// What a program without a page does; browser.test.ts is a page.

let server: ClientServer
let peer: OidcPeer
before(async () => {
  peer = await oidcProvider()
  server = await clientServer()
  const auth = { defaultApiKey: server.tenant.public, redirectUrls: ['https://maps.example.org/*'] }
  await server.app.call('PUT', `/api/v1/applications/${server.tenant.id}/metadata/auth`, { body: auth })
})
after(async () => {
  await server.close()
  await peer.close()
})

async function provider(fields: object = {}): Promise<string> {
  const { issuer, clientId, clientSecret } = peer
  const rights = { createsUsers: true, linksUsers: true }
  const made = { name: 'Office', issuer, clientId, clientSecret, ...rights, ...fields }
  return (await server.client().auth.providers.create(made)).id
}

/** Leaves for the provider, and says where the browser returns to. */
async function leave(client: Client, providerId: string): Promise<string> {
  let start = ''
  await client.auth.signInWithProvider(providerId, {
    redirect: `${page}?lang=de`,
    open: (address) => (start = address),
  })
  return signInBrowser(server.app).follow(start, page)
}

test('a sign-in by a provider ends with tokens that the client keeps, and tells its listeners', async () => {
  peer.account = { sub: 'ada', email: 'ada@example.org', email_verified: true }
  const client = server.client({}, null)
  const changes: AuthChange['event'][] = []
  const stop = client.auth.onChange(({ event, tokens }) => {
    changes.push(event)
    assert.equal(tokens.accessToken, client.accessToken)
  })
  const address = await leave(client, await provider())
  const tokens = await client.auth.completeSignIn({ address })
  assert.equal(tokens?.accessToken, client.accessToken)
  assert.equal((await client.auth.users.me()).email, 'ada@example.org')
  await client.auth.refresh({ rotate: true })
  await client.auth.logout()
  stop()
  stop()
  await assert.rejects(client.auth.completeSignIn({ address }), { code: 'sign_in_not_begun' })
  assert.deepEqual(changes, ['signedIn', 'refreshed', 'signedOut'])
  assert.equal(await client.auth.completeSignIn({ address: page }), null)
})

test('a listener that left is told nothing, and the others go on', async () => {
  peer.account = { sub: 'grace', email: 'grace@example.org', email_verified: true }
  const client = server.client({}, null)
  const heard: string[] = []
  const listener = ({ event }: AuthChange): number => heard.push(event)
  const stop = client.auth.onChange(listener)
  client.auth.onChange(listener)
  stop()
  await client.auth.completeSignIn({ address: await leave(client, await provider()) })
  assert.deepEqual(heard, ['signedIn'])
})

test('a sign-in that did not succeed rejects with the reason, and another program cannot complete one', async () => {
  peer.account = { sub: 'mallory', email: 'mallory@example.org', email_verified: false }
  const client = server.client({}, null)
  const refused = await leave(client, await provider())
  await assert.rejects(client.auth.completeSignIn({ address: refused }), { status: 401, code: 'email_not_verified' })
  peer.account = { sub: 'victim', email: 'victim@example.org', email_verified: true }
  const address = await leave(client, await provider())
  const thief = server.client({}, null)
  await leave(thief, await provider())
  await assert.rejects(thief.auth.completeSignIn({ address }), { status: 401, code: 'unauthorized' })
  await assert.rejects(client.auth.completeSignIn({ address }), { status: 401 }, 'a code that was read is over')
})

test('who must show a second factor goes on with the same sign-in', async () => {
  const user = await server.app.user(server.tenant.id)
  const { applicationId, email, password } = user
  const { secret } = await server.client().auth.secondFactor.start({ applicationId, email, password })
  await server.client().auth.secondFactor.confirm({ applicationId, email, password, code: shownBy(secret) })
  peer.account = { sub: 'careful', email, email_verified: true }
  const client = server.client({}, null)
  const address = await leave(client, await provider())
  await assert.rejects(client.auth.completeSignIn({ address }), { code: 'second_factor_required' })
  await assert.rejects(client.auth.completeSignIn({ secondFactor: '000000' }), { status: 401, code: 'unauthorized' })
  assert.ok(await client.auth.completeSignIn({ secondFactor: shownBy(secret) }))
  assert.equal((await client.auth.users.me()).email, email)
  assert.equal(await client.auth.completeSignIn({ secondFactor: shownBy(secret) }), null, 'it is over')
})

test('an access token of the provider itself is an access token of the client', async () => {
  const id = await provider({ acceptsTokens: true, audience: 'https://maps.example.org/api' })
  const claims = { sub: 'turing', email: 'turing@example.org', email_verified: true }
  const accessToken = await peer.sign({ aud: 'https://maps.example.org/api', ...claims })
  const client = server.client({ accessToken, headers: { 'x-application-id': server.tenant.id } }, null)
  assert.equal((await client.auth.users.me()).email, 'turing@example.org')
  await server.client().auth.providers.delete(id)
})
