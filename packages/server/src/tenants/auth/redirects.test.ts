import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAllowedRedirect } from './redirects.ts'

const base = 'https://maps.example/base'
const allows = (url: string, redirectUrls?: unknown) => isAllowedRedirect(url, { redirectUrls }, base)

test('without a list, the own origin and this machine are allowed', () => {
  for (const url of ['https://maps.example/a?b#c', 'http://localhost:3000/', 'http://127.8.9.1/x', 'http://[::1]:1/']) {
    assert.ok(allows(url), url)
  }
  for (const url of [
    'https://evil.example/',
    'http://maps.example/',
    'https://maps.example:8443/',
    'https://maps.example.evil.example/',
    'https://maps.example@evil.example/',
    'https://evil.example#@maps.example/',
    'https://evil.example\\@maps.example/',
    'https://maps.example\\.evil.example/',
    'https:maps.example/',
    'https:/maps.example/',
    '//maps.example/',
    '/relative',
    'javascript:alert(1)',
    'data:text/html,x',
    'http://localhost.evil.example/',
    'http://127.0.0.1.evil.example/',
    'http://user:pass@localhost/',
    'http://localhost/\r\nSet-Cookie: a=b',
    'http://localhost/\t',
    ' http://localhost/',
    `http://localhost/${'a'.repeat(3_000)}`,
    '',
  ]) {
    assert.ok(!allows(url), url)
  }
})

test('a list is exact in origin and path, or names what is below a path', () => {
  const list = ['https://app.example/done', 'https://app.example/p/*', 5, 'nonsense']
  for (const url of [
    'https://app.example/done',
    'https://app.example/done?a=1',
    'https://app.example/p/',
    'https://app.example/p/x/y',
  ]) {
    assert.ok(allows(url, list), url)
  }
  for (const url of [
    'https://app.example/done/',
    'https://app.example/done2',
    'https://app.example/p',
    'https://app.example/p/../admin',
    'https://app.example/p/%2e%2e/admin',
    'https://app.example/p/..%2fadmin',
    'https://app.example/px',
    'http://app.example/done',
    'https://maps.example/',
    'http://localhost/',
  ]) {
    assert.ok(!allows(url, list), url)
  }
  assert.ok(allows('http://localhost/', []))
})
