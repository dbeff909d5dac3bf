import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditFilter, isFiltered, readActivitySearch, withChanges } from './activity-search.ts'

test('an address with nonsense in it filters by the rest', () => {
  const search = {
    q: '',
    since: 'toString',
    actor: 'nobody',
    user: 'x',
    outcome: 'maybe',
    from: '2026-02-3',
    kind: 'styles',
  }
  assert.deepEqual(readActivitySearch(search), { kind: 'styles' })
  // The router reads digits as a number.
  assert.deepEqual(readActivitySearch({ record: 12, user: 12 }), { record: '12', user: 12 })
})

test('every filter is a condition of its own, and all must hold', () => {
  const now = Date.UTC(2026, 10, 17, 12)
  assert.equal(auditFilter({}, now), undefined)
  const filter = auditFilter({ since: 'hour', key: 'ab12', action: 'create', outcome: 'refused', q: ' a_b ' }, now)
  assert.deepEqual(filter, {
    $and: [
      { at: { $gte: '2026-11-17T11:00:00.000Z' } },
      { actorId: 'ab12' },
      { $or: [{ action: { $like: '%.create' } }] },
      { status: { $gte: 400 } },
      {
        $or: [
          { targetName: { $iLike: '%a\\_b%' } },
          ...['targetId', 'requestId', 'address', 'actorId'].map((field) => ({ [field]: 'a_b' })),
        ],
      },
    ],
  })
  assert.deepEqual(auditFilter({ action: 'styles.patch' }, now), { $and: [{ action: 'styles.patch' }] })
})

test('a day lasts from its midnight to the next one, where the reader is', () => {
  assert.deepEqual(auditFilter({ from: '2026-03-28', to: '2026-03-29' }, 0), {
    $and: [{ at: { $gte: new Date(2026, 2, 28).toISOString() } }, { at: { $lt: new Date(2026, 2, 30).toISOString() } }],
  })
})

test('another filter begins at the newest entry again', () => {
  const search = { kind: 'styles', after: '1.a', entry: 'e' }
  assert.deepEqual(withChanges(search, { outcome: 'done', kind: undefined }), { outcome: 'done' })
  assert.deepEqual(withChanges(search, { after: '2.b' }), { kind: 'styles', after: '2.b' })
  assert.deepEqual([isFiltered({ after: '1.a' }), isFiltered(search)], [false, true])
})
