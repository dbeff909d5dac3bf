import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actionWords, outcomeOf } from './activity-words.ts'

test('actions are said in words, also those that came later than the words', () => {
  const said = [
    'styles.patch',
    'datasets.delete',
    'users.metadata.setKey',
    'appconfig.key.delete',
    'auth.login',
    'datasets.rows.insertMany',
    'vaults.rotateToken',
  ].map(actionWords)
  assert.deepEqual(said, [
    'Change map',
    'Delete dataset',
    'Change metadata of user',
    'Delete configuration',
    'Sign in',
    'Insert many rows of dataset',
    'Rotate token vaults',
  ])
})

test('an outcome is a word and, where something was refused, the status', () => {
  const labels = [200, 401, 412, 429, 418, 500].map((status) => outcomeOf({ status }).label)
  assert.deepEqual(labels, [
    'done',
    'refused, 401',
    'conflict, 412',
    'over a limit, 429',
    'refused, 418',
    'failed, 500',
  ])
})
