import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import fc from 'fast-check'
import { developerPermissions, publicPermissions } from '../../../../../server/src/api/access/first-permissions.ts'
import {
  aclClasses,
  aclLevels,
  hasLevel,
  type Permissions,
  resolveGrant,
} from '../../../../../server/src/api/access/grants.ts'
import { isGranted } from '../../../session/permissions.ts'
import { hasEffect, isInherited, isSameGrant, matrixOf, nextGrant, permissionsOf, withCell } from './acl-matrix.ts'

const ids = fc.oneof(
  fc.constant('*' as const),
  fc.array(fc.constantFrom('a', 'b', 'c', '*'), { maxLength: 4 }).map((list) => [...list]),
)
const permissionsArbitrary: fc.Arbitrary<Permissions> = fc.dictionary(
  fc.constantFrom('*', ...aclClasses),
  fc.dictionary(fc.constantFrom('*', ...aclLevels), ids, { noNullPrototype: true }),
  { noNullPrototype: true },
)

/** All that an ACL grants by the server's rule, to classes of the future too. */
const granted = (permissions: Permissions) =>
  [...aclClasses, 'a class of the future'].flatMap((aclClass) =>
    aclLevels.flatMap((level) => {
      if (!hasLevel(aclClass, level)) return []
      const grant = resolveGrant(permissions, aclClass, level)
      return [[aclClass, level, grant === 'any' ? 'any' : [...new Set(grant)].sort().join()]]
    }),
  )

test('an ACL that goes through the matrix grants exactly what it granted before', () => {
  fc.assert(
    fc.property(permissionsArbitrary, (permissions) => {
      assert.deepEqual(granted(permissionsOf(matrixOf(permissions))), granted(permissions))
    }),
    { numRuns: 2000 },
  )
})

test('an ACL that the matrix makes names no level that the server does not know', () => {
  fc.assert(
    fc.property(permissionsArbitrary, (permissions) => {
      for (const [aclClass, levels] of Object.entries(permissionsOf(matrixOf(permissions))))
        for (const level of Object.keys(levels)) assert.ok(hasLevel(aclClass, level), `${aclClass} ${level}`)
    }),
  )
})

test('append is at least what write is, in every cell and after every change', () => {
  const both = { datasets: { write: ['a'], append: ['b'] } }
  const { datasets } = matrixOf(both)
  assert.deepEqual([datasets.write, datasets.append], [['a'], ['a', 'b']])
  const cleared = withCell(matrixOf(both), 'datasets', 'append', 'none')
  assert.deepEqual(permissionsOf(cleared), { datasets: { write: ['a'] } })
  assert.deepEqual(permissionsOf(withCell(cleared, 'datasets', 'write', 'none')), {})
  const all = withCell(matrixOf(both), 'datasets', 'write', 'all')
  assert.deepEqual(permissionsOf(all), { datasets: { write: '*' } })
  assert.deepEqual(permissionsOf(withCell(matrixOf({}), 'datasets', 'append', ['a'])), { datasets: { append: ['a'] } })
})

test('changing a cell changes that cell alone, and one of the row * what had the same', () => {
  const row = fc.constantFrom('*' as const, ...aclClasses)
  const grant = fc.constantFrom('none' as const, 'all' as const, ['a'])
  // What write does to append, and the other way round, is above.
  const levels = aclLevels.filter((level) => level !== 'append' && level !== 'write')
  fc.assert(
    fc.property(permissionsArbitrary, row, fc.constantFrom(...levels), grant, (permissions, aclClass, level, next) => {
      const before = matrixOf(permissions)
      const after = matrixOf(permissionsOf(withCell(before, aclClass, level, next)))
      assert.deepEqual(after[aclClass][level], next)
      for (const other of aclClasses)
        for (const one of aclLevels) {
          const follows = one === level && aclClass === '*' && isInherited(before, other, one)
          if ((other === aclClass && one === level) || follows) assert.deepEqual(after[other][one], next)
          else assert.ok(isSameGrant(after[other][one], before[other][one]))
        }
    }),
  )
})

test('an ACL grants in the console what it grants on the server', () => {
  fc.assert(
    fc.property(permissionsArbitrary, fc.constantFrom('a', 'd'), (permissions, id) => {
      for (const aclClass of aclClasses)
        for (const level of aclLevels) {
          const grant = resolveGrant(permissions, aclClass, level)
          assert.equal(isGranted(permissions, aclClass, level, id), grant === 'any' || grant.includes(id))
        }
    }),
  )
})

test('the ACLs of the first keys are written as the server writes them', () => {
  for (const permissions of [developerPermissions, publicPermissions])
    assert.deepEqual(permissionsOf(matrixOf(permissions)), permissions)
})

test('a click goes from nothing to all, to what was chosen, and back', () => {
  assert.equal(nextGrant('none', []), 'all')
  assert.equal(nextGrant('all', []), 'none')
  assert.deepEqual(nextGrant('all', ['a']), ['a'])
  assert.equal(nextGrant(['a'], ['a']), 'none')
})

test('a level is said to have no effect exactly where no operation asks for it', async () => {
  const { paths } = JSON.parse(await readFile(new URL('../../../../../../openapi.json', import.meta.url), 'utf8'))
  const asked = new Set<string>()
  for (const operations of Object.values<Record<string, { 'x-access'?: string }>>(paths))
    for (const { 'x-access': access = '' } of Object.values(operations)) {
      const [aclClass, ...rest] = access.split(/,| or | /)
      for (const level of rest) asked.add(`${aclClass} ${level}`)
    }
  for (const aclClass of aclClasses)
    for (const level of aclLevels)
      assert.equal(hasEffect(aclClass, level), asked.has(`${aclClass} ${level}`), `${aclClass} ${level}`)
})
