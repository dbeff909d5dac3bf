import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { ApiError } from '../../kernel/errors.ts'
import { readJoins } from './joins.ts'
import { readListQuery } from './list-query.ts'
import { defineResource, field } from './resource.ts'

const shelf = defineResource({
  name: 'shelves',
  title: 'Shelf',
  acl: 'styles',
  example: {},
  fields: { name: field('string', Type.String({ maxLength: 10 })) },
  joins: { application: { one: 'Application', field: 'applicationId' } },
})

test('fields, sort and join name each thing once', () => {
  for (const [path, read] of [
    ['query/fields', () => readListQuery(shelf, { fields: ['id', 'name', 'id'] })],
    ['query/sort', () => readListQuery(shelf, { sort: ['name', '-name'] })],
    ['query/sort', () => readListQuery(shelf, { sort: ['+name', 'name'] })],
    ['query/join', () => readJoins(shelf, ['application', 'application'])],
  ] as const) {
    assert.throws(read, (error) => error instanceof ApiError && error.faults[0]?.path === path)
  }
  assert.doesNotThrow(() => readListQuery(shelf, { fields: ['id', 'name'], sort: ['-name', 'id'] }))
})
