import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiKey } from '@graticule/client'
import { publicPermissions } from '../../../../../server/src/api/access/first-permissions.ts'
import { decide } from '../acl/acl-decision.ts'
import {
  draftOf,
  emptyDraft,
  expiresAt,
  isFormerPublicKey,
  mapPermissions,
  narrowDraftOf,
  presetOf,
  readOrigin,
  requestOf,
} from './key-draft.ts'
import { warningsOf } from './key-warnings.ts'

test('a decision names the entry that decides and the one that it wins over', () => {
  const permissions = { '*': { read: '*' as const }, datasets: { read: ['a', 'b'] }, users: { '*': [] } }
  assert.deepEqual(decide(permissions, 'datasets', 'read', 'c'), {
    isAllowed: false,
    reason: 'because datasets.read lists 2 ids and not this one (it wins over *.read)',
  })
  assert.deepEqual(decide(permissions, 'datasets', 'read', 'a').isAllowed, true)
  assert.deepEqual(decide(permissions, 'tiles', 'read', 'a'), { isAllowed: true, reason: 'because *.read is *' })
  assert.deepEqual(decide(permissions, 'users', 'read', null), {
    isAllowed: false,
    reason: 'because users.* is empty (it wins over *.read)',
  })
  assert.deepEqual(decide(permissions, 'tiles', 'write', null), {
    isAllowed: false,
    reason: 'there is no entry for tiles and none for *',
  })
})

test('an expiry in days is counted from now, a date is read in the reader’s zone', () => {
  assert.equal(expiresAt({ ...emptyDraft, expiry: '30' }, Date.UTC(2026, 0, 1)), '2026-01-31T00:00:00.000Z')
  assert.equal(expiresAt(emptyDraft), null)
  const on = { ...emptyDraft, expiry: 'date' as const, expiresOn: '2027-01-31T12:00' }
  assert.equal(expiresAt(on), new Date(2027, 0, 31, 12).toISOString())
})

test('a draft of a key makes the same key again', () => {
  const key = {
    id: 'secret',
    description: 'web',
    type: 'user',
    permissions: { datasets: { read: ['a'] } },
    userId: 7,
    expiresAt: '2027-01-31T12:00:00.000Z',
    allowedOrigins: ['https://a.example.org'],
  } as unknown as ApiKey
  const { description, type, permissions, userId, allowedOrigins } = key
  assert.deepEqual(requestOf(draftOf(key)), {
    description,
    type,
    permissions,
    userId: String(userId),
    allowedOrigins,
    expiresAt: key.expiresAt,
  })
  assert.ok(!JSON.stringify(draftOf(key)).includes('secret'))
})

test('permissions are recognised by what they grant, not by how they are written', () => {
  const both = { read: ['*'], execute: '*' as const }
  const pages = { datasets: both, styles: both, tiles: both, auth: { execute: ['*'] }, appconfig: { execute: ['*'] } }
  assert.equal(presetOf(pages), 'public')
  assert.equal(presetOf({ '*': both }), 'custom')
  assert.equal(presetOf({ '*': { read: '*', write: '*', execute: '*' } }), 'developer')
  assert.equal(presetOf({ '*': { read: '*' } }), 'custom')
})

test('a public key of an earlier version is recognised, and its replacement grants what pages need', () => {
  const key = { type: 'app', description: 'Harbour', permissions: { '*': { execute: ['*'], read: '*' } } }
  const older = {
    ...key,
    expiresAt: null,
    userId: null,
    allowedOrigins: ['https://a.example.org'],
  } as unknown as ApiKey
  assert.ok(isFormerPublicKey(older))
  for (const permissions of [{ '*': { read: '*' } }, { '*': { '*': '*' } }, publicPermissions] as const)
    assert.ok(!isFormerPublicKey({ ...older, permissions: permissions as ApiKey['permissions'] }))
  assert.ok(!isFormerPublicKey({ ...older, type: 'master' }))
  const { description, permissions, allowedOrigins } = requestOf(narrowDraftOf(older))
  assert.deepEqual(
    [description, permissions, allowedOrigins],
    ['Harbour (narrow)', publicPermissions, ['https://a.example.org']],
  )
})

test('a decision about append says when write is the reason', () => {
  const permissions = { '*': { '*': '*' as const }, datasets: { write: ['a'], append: ['b'] } }
  assert.match(
    decide(permissions, 'datasets', 'append', 'a').reason,
    /datasets\.write lists 1 id.*write includes append/,
  )
  assert.deepEqual(decide(permissions, 'datasets', 'append', 'b'), {
    isAllowed: true,
    reason: 'because datasets.append lists 1 id, this one too (it wins over *.*)',
  })
  assert.equal(decide(permissions, 'datasets', 'append', 'c').isAllowed, false)
  const allButWrite = { datasets: { '*': '*' as const, write: [] } }
  assert.deepEqual(decide(allButWrite, 'datasets', 'append', 'a'), {
    isAllowed: false,
    reason: 'there is no entry for append of datasets and none for *',
  })
})

test('an origin is what browsers send: without a path', () => {
  assert.deepEqual(readOrigin(' https://Maps.example.org:8443/page '), { value: 'https://maps.example.org:8443' })
  for (const text of ['maps.example.org', 'ftp://x.org', 'https://*.x.org', 'https://me@x.org', ''])
    assert.ok('fault' in readOrigin(text), text)
})

test('one map needs its style, its tiles, and the datasets that tiles are made of', () => {
  const style = {
    sources: {
      base: { type: 'vector', url: '/tiles/basemap/index.json' },
      roads: { type: 'vector', url: 'https://x.org/tiles/T1/index.json' },
      cities: { type: 'vector', tiles: ['/tiles/D1/{z}/{x}/{y}.mvt'] },
      rivers: { type: 'geojson', data: '/api/v1/datasets/D2/query?format=geojson' },
    },
  }
  assert.deepEqual(mapPermissions('S', style, new Set(['D1', 'D2'])), {
    styles: { execute: ['S'] },
    tiles: { execute: ['T1', 'D1'] },
    datasets: { execute: ['D1', 'D2'] },
  })
  assert.deepEqual(mapPermissions('S', {}, new Set()), { styles: { execute: ['S'] } })
})

const warn = (permissions: object, more: object = {}) =>
  warningsOf(
    { ...emptyDraft, permissions: permissions as typeof emptyDraft.permissions, ...more },
    {
      datasets: new Set(['a']),
    },
  ).join('\n')

test('a key for pages is warned of without origins, one that writes when it is for everybody or for ever', () => {
  assert.match(warn({ '*': { read: '*' } }), /No allowed origins/)
  assert.equal(warn({ '*': { read: '*' } }, { origins: ['https://x.org'] }), '')
  assert.match(warn({ datasets: { write: '*' } }, { origins: ['https://x.org'] }), /Everybody who opens a page/)
  assert.match(warn({ datasets: { write: '*' } }), /never expires/)
  assert.equal(warn({ datasets: { write: '*' } }, { expiry: '30' }), '')
})

test('entries that raise power, do nothing or name nothing are pointed out', () => {
  assert.match(warn({ apikeys: { write: '*' } }), /further keys/)
  assert.match(warn({ applications: { write: '*' } }), /sign-up rules/)
  assert.match(warn({ users: { execute: '*' } }), /users\.execute has no effect/)
  assert.doesNotMatch(warn({ '*': { execute: '*' } }), /has no effect/)
  assert.match(warn({ auth: { read: '*' } }), /only master keys/)
  assert.doesNotMatch(warn({ auth: { read: '*' } }, { type: 'master' }), /only master keys read/)
  assert.match(warn({ datasets: { read: ['a', 'b'] } }), /datasets\.read names 1 dataset that/)
  assert.match(warn({ datasets: { write: ['a'] } }), /none can be made/)
  assert.equal(warn({ styles: { read: ['b'] } }, { origins: ['https://x.org'] }), '')
})
