import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { authorize, type Caller, includesPower, keyTypes, type Power } from './acl.ts'
import { aclClasses, aclLevels, grantsInclude, type Permissions, resolveGrant } from './grants.ts'

const ids = ['a', 'b', 'c']
const grant = fc.oneof(fc.constant('*' as const), fc.constant(['*']), fc.subarray(ids))
const permissions: fc.Arbitrary<Permissions> = fc.dictionary(
  fc.constantFrom('*', 'styles', 'datasets', 'apikeys'),
  fc.dictionary(fc.constantFrom('*', ...aclLevels), grant),
)

/** May this one record be reached? Written from the rules alone: walk the four entries, take the first that is there. */
function mayReach(acl: Permissions, aclClass: string, level: string, id: string): boolean {
  const entries = [acl[aclClass]?.[level], acl[aclClass]?.['*'], acl['*']?.[level], acl['*']?.['*']]
  const first = entries.findIndex((candidate) => candidate !== undefined)
  const entry = entries[first] ?? []
  const isListed = entry === '*' || entry.includes('*') || entry.includes(id)
  if (level !== 'append') return isListed
  // The entries of all levels, 1 and 3, grant it only as a part of write.
  return (isListed && first % 2 === 0) || mayReach(acl, aclClass, 'write', id)
}

describe('the ACL', () => {
  test('resolves as the oracle does', () => {
    fc.assert(
      fc.property(
        permissions,
        fc.constantFrom(...aclClasses),
        fc.constantFrom(...aclLevels),
        fc.constantFrom(...ids, 'd'),
        (acl, aclClass, level, id) => {
          const granted = resolveGrant(acl, aclClass, level)
          assert.equal(granted === 'any' || granted.includes(id), mayReach(acl, aclClass, level, id))
        },
      ),
      { numRuns: 5_000 },
    )
  })

  test('includes another exactly when every single access is included', () => {
    // One id, one class and no more that neither ACL names stand for all such.
    const everyAccess = [...aclClasses, 'later'].flatMap((aclClass) =>
      aclLevels
        .filter((level) => level !== 'append' || ['datasets', 'later'].includes(aclClass))
        .flatMap((level) => [...ids, 'unnamed'].map((id) => [aclClass, level, id] as const)),
    )
    fc.assert(
      fc.property(permissions, permissions, (outer, inner) => {
        const expected = everyAccess.every((access) => !mayReach(inner, ...access) || mayReach(outer, ...access))
        assert.equal(grantsInclude(outer, inner), expected)
      }),
      { numRuns: 5_000 },
    )
  })

  test('inclusion is reflexive and transitive', () => {
    fc.assert(
      fc.property(permissions, permissions, permissions, (a, b, c) => {
        assert.ok(grantsInclude(a, a))
        if (grantsInclude(a, b) && grantsInclude(b, c)) assert.ok(grantsInclude(a, c))
      }),
      { numRuns: 5_000 },
    )
  })

  test('the most specific entry wins, also when it grants less', () => {
    const acl = { '*': { read: '*' }, datasets: { read: ['a'] } } as const
    assert.deepEqual(resolveGrant(acl, 'datasets', 'read'), ['a'])
    assert.equal(resolveGrant(acl, 'styles', 'read'), 'any')
    assert.deepEqual(resolveGrant({ '*': { '*': '*' }, styles: { '*': [] } }, 'styles', 'write'), [])
  })

  test('write includes append, append nothing but itself', () => {
    assert.equal(resolveGrant({ datasets: { write: '*' } }, 'datasets', 'append'), 'any')
    assert.deepEqual(resolveGrant({ datasets: { write: ['a'], append: ['b'] } }, 'datasets', 'append'), ['a', 'b'])
    assert.deepEqual(resolveGrant({ datasets: { write: ['a'], append: [] } }, 'datasets', 'append'), ['a'])
    for (const level of ['read', 'write', 'execute'])
      for (const acl of [{ datasets: { append: '*' } }, { '*': { append: '*' } }] as Permissions[])
        assert.deepEqual(resolveGrant(acl, 'datasets', level), [])
    assert.equal(resolveGrant({ '*': { append: '*' } }, 'datasets', 'append'), 'any')
  })

  test('a key that was made with everything but write has not become able to append', () => {
    const older: Permissions[] = [
      { '*': { '*': '*' }, datasets: { write: [] } },
      { datasets: { '*': '*', write: [] } },
      { '*': { '*': '*', write: [] } },
    ]
    for (const acl of older) assert.deepEqual(resolveGrant(acl, 'datasets', 'append'), [])
    assert.deepEqual(resolveGrant({ datasets: { '*': '*', write: ['a'] } }, 'datasets', 'append'), ['a'])
  })

  test('append counts in comparisons only where it means something', () => {
    const appends: Permissions = { '*': { append: '*' } }
    assert.ok(grantsInclude({ ...appends, styles: { '*': [] } }, appends))
    assert.ok(grantsInclude({ '*': { write: '*' } }, appends))
    assert.ok(grantsInclude({ datasets: { write: ['a'] } }, { datasets: { append: ['a'] } }))
    assert.ok(!grantsInclude({ datasets: { append: ['a'] } }, { datasets: { write: ['a'] } }))
    assert.ok(!grantsInclude({ datasets: { read: '*', execute: '*' } }, { datasets: { append: ['a'] } }))
  })

  test('names of Object.prototype grant nothing', () => {
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      assert.deepEqual(resolveGrant({}, name, name), [])
    }
  })
})

const power = (change: Partial<Power>): Power => ({
  type: 'app',
  applicationId: 'A',
  permissions: { '*': { '*': '*' } },
  userId: null,
  expiresAt: null,
  allowedOrigins: null,
  ...change,
})

describe('the power of keys', () => {
  test('a key of a lesser type never includes one of a greater', () => {
    for (const outer of keyTypes) {
      for (const inner of keyTypes) {
        const includes = includesPower(power({ type: outer }), power({ type: inner }))
        assert.equal(includes, keyTypes.indexOf(inner) <= keyTypes.indexOf(outer))
      }
    }
  })

  test('only master keys include keys of another application', () => {
    assert.ok(!includesPower(power({}), power({ applicationId: 'B' })))
    assert.ok(includesPower(power({ type: 'master' }), power({ applicationId: 'B' })))
  })

  test('a key does not include one that lives longer, or from more origins, or of another user', () => {
    const soon = new Date(1_000)
    const later = new Date(2_000)
    assert.ok(!includesPower(power({ expiresAt: soon }), power({})))
    assert.ok(!includesPower(power({ expiresAt: soon }), power({ expiresAt: later })))
    assert.ok(includesPower(power({ expiresAt: later }), power({ expiresAt: soon })))
    assert.ok(!includesPower(power({ allowedOrigins: ['https://a'] }), power({})))
    assert.ok(!includesPower(power({ allowedOrigins: ['https://a'] }), power({ allowedOrigins: ['https://b'] })))
    assert.ok(includesPower(power({}), power({ allowedOrigins: ['https://b'] })))
    assert.ok(!includesPower(power({ type: 'user', userId: 1 }), power({ type: 'user', userId: 2 })))
  })
})

describe('authorize', () => {
  const caller = (permissions: Permissions, type: Caller['type'] = 'app'): Caller => ({
    ...power({ permissions, type }),
    keyHash: 'k',
    keyExpiresAt: null,
    bearer: null,
    everyApplication: type === 'master',
  })
  const read = { class: 'styles', level: 'read' } as const

  test('an empty list is refused, for lists too', () => {
    assert.throws(() => authorize(caller({ styles: { read: [] } }), read, undefined), { code: 'unauthorized' })
  })

  test('an id outside the list is refused, one inside narrows the scope to the list', () => {
    const limited = caller({ styles: { read: ['a'] } })
    assert.throws(() => authorize(limited, read, 'b'), { code: 'unauthorized' })
    assert.deepEqual(authorize(limited, read, 'a').ids, ['a'])
  })

  test('the tenant is the key’s own, and everything only for a master key that chose none', () => {
    const all = { '*': { '*': '*' } } as const
    assert.equal(authorize(caller(all), read, undefined).applicationId, 'A')
    assert.equal(authorize(caller(all, 'master'), read, undefined).applicationId, 'any')
  })
})

test('two keys with ten thousand ids for all classes are compared in a moment', () => {
  const ids = Array.from({ length: 10_000 }, () => randomUUID())
  const outer = { '*': { '*': ids } }
  const started = process.cpuUsage()
  assert.equal(grantsInclude(outer, { '*': { '*': ids.toReversed() } }), true)
  assert.equal(grantsInclude(outer, { datasets: { read: [...ids.toReversed(), randomUUID()] } }), false)
  const { user, system } = process.cpuUsage(started)
  assert.ok(user + system < 1_000_000, `took ${user + system} µs`)
})
