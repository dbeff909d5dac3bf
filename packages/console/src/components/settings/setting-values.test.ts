import assert from 'node:assert/strict'
import { test } from 'node:test'
import { draftOf, type SettingField, settingsOf } from './setting-values.ts'

const fields: SettingField[] = [
  { name: 'url', label: 'Address', kind: 'text' },
  { name: 'system', label: 'System', kind: 'area' },
  { name: 'most', label: 'Most', kind: 'number' },
  { name: 'tools', label: 'Tools', kind: 'switch', fallback: true },
  { name: 'addresses', label: 'Addresses', kind: 'lines' },
  { name: 'headers', label: 'Headers', kind: 'pairs' },
  { name: 'token', label: 'Token', kind: 'text', isSecret: true },
]
const settings = {
  url: 'https://a.example',
  system: 'Be brief.\n',
  most: 4,
  tools: false,
  addresses: ['a@b.c', 'd@e.f'],
  headers: { 'X-Where': 'here: there' },
}

test('settings come back from their controls as they were', () => {
  assert.deepEqual(settingsOf(fields, draftOf(fields, settings)), settings)
})

test('a secret is never in a control, and an untouched one is left out', () => {
  const draft = draftOf(fields, { ...settings, token: 'never' })
  assert.equal(draft.token, '')
  assert.ok(!('token' in settingsOf(fields, draft)))
})

test('a secret that was typed is sent, and a removed one is null', () => {
  const draft = draftOf(fields, {})
  assert.deepEqual(settingsOf(fields, { ...draft, token: 'new' }), { token: 'new' })
  assert.deepEqual(settingsOf(fields, { ...draft, token: null }), { token: null })
})

test('controls that are empty or as usual say nothing', () => {
  assert.deepEqual(settingsOf(fields, draftOf(fields, {})), {})
  assert.deepEqual(settingsOf(fields, { url: '  ', addresses: ' \n ', tools: true }), {})
})
