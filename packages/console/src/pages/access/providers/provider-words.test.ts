import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whoMayCome } from './provider-words.ts'

const cases: [emailDomains: string[], createsUsers: boolean, linksUsers: boolean, sentence: string][] = [
  [[], false, false, 'Nobody new: only users who have come by it before.'],
  [['example.org'], false, false, 'Nobody new: only users who have come by it before.'],
  [[], true, false, 'Everybody it signs in, as a new user at the first time.'],
  [['a.org', 'b.org'], true, false, 'Everybody at a.org and b.org, as a new user at the first time.'],
  [['a.org'], true, true, 'Everybody at a.org, as the user of the same address or as a new one.'],
  [[], false, true, 'Users of this application, by their address.'],
  [['a.org'], false, true, 'Users of this application, by their address at a.org.'],
]

for (const [emailDomains, createsUsers, linksUsers, sentence] of cases)
  test(`who may come by ${JSON.stringify({ emailDomains, createsUsers, linksUsers })} is said as "${sentence}"`, () => {
    assert.equal(whoMayCome({ emailDomains, createsUsers, linksUsers }), sentence)
  })
