import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAllowedRedirect } from '../../../../../server/src/tenants/auth/redirects.ts'
import { allowsConsole, authOf, readAllowed, readRedirectUrl, rulesInWords, rulesOf } from './sign-up-rules.ts'

test('rules are read from metadata of any shape, and written back as they were', () => {
  const auth = {
    signup: { enabled: true, allow: ['@example.org'] },
    redirectUrls: ['https://x.org/*'],
    defaultApiKey: 'key',
  }
  assert.deepEqual(authOf(rulesOf({ auth })), auth)
  const none = { isEnabled: false, allow: [], redirectUrls: [], keyId: null }
  for (const metadata of [undefined, {}, { auth: null }, { auth: { signup: 5, redirectUrls: 'x', defaultApiKey: 1 } }])
    assert.deepEqual(rulesOf(metadata), none)
})

test('who may sign up is said in a sentence', () => {
  const words = (isEnabled: boolean, allow: string[]) =>
    rulesInWords({ isEnabled, allow, redirectUrls: [], keyId: null })
  assert.match(words(false, ['*']), /^Nobody can sign up/)
  assert.match(words(true, []), /^Nobody can sign up/)
  assert.match(words(true, ['*', '@x.org']), /^Anybody/)
  assert.match(
    words(true, ['@x.org', 'a@y.org', 'b@y.org']),
    /^Sign-up is open to everybody at x\.org and 2 addresses\./,
  )
})

test('an entry that the server would not match is refused while it is typed', () => {
  for (const text of ['*', '@example.org', 'ada@example.org'])
    assert.deepEqual(readAllowed(` ${text} `), { value: text })
  for (const text of ['', 'example.org', 'a b@x.org', '@']) assert.ok('fault' in readAllowed(text), text)
  for (const text of ['https://x.org', 'http://localhost:3000/a', 'https://x.org/a/*'])
    assert.deepEqual(readRedirectUrl(text), { value: text })
  for (const text of [
    'x.org',
    'ftp://x.org',
    'https://*.x.org/a',
    'https://me@x.org',
    'https://x.org/?a=1',
    'https://x.org/*/b',
  ])
    assert.ok('fault' in readRedirectUrl(text), text)
})

test('whether mail may lead to the console is decided as the server decides it', () => {
  const base = 'https://maps.example.org/app'
  const page = `${base}/console/reset-password?application=1`
  const lists = [
    [],
    ['https://maps.example.org/app/console/*'],
    ['https://maps.example.org/*'],
    ['https://maps.example.org/app/console/reset-password'],
    ['https://maps.example.org/app/console'],
    ['https://maps.example.org/other/*'],
    ['https://other.example.org/*'],
    ['nonsense', 'http://maps.example.org/*'],
  ]
  for (const redirectUrls of lists)
    assert.equal(
      allowsConsole(redirectUrls, page),
      isAllowedRedirect(page, { redirectUrls }, base),
      String(redirectUrls),
    )
})
