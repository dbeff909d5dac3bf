import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publicDatabaseMessage, unknownName } from './public-message.ts'

test('a table, schema, type or role that is absent and one that is another’s have one message', () => {
  const same = [
    { code: '42501', message: 'permission denied for schema app_x' },
    { code: '3F000', message: 'schema "app_x" does not exist' },
    { code: '42P01', message: 'relation "app_x.roads" does not exist' },
    { code: '42704', message: 'type "app_x.roads" does not exist' },
    { code: '42704', message: 'text search configuration "app_x.roads" does not exist' },
    { code: '42704', message: 'role "app_x" does not exist' },
    { code: '42501', message: 'permission denied for function st_transform' },
  ]
  for (const error of same) assert.equal(publicDatabaseMessage(error), unknownName, error.message)
  const [denied, absent] = [
    { code: '42501', message: 'permission denied for table roads' },
    { code: '42P01', message: 'relation "roads" does not exist' },
  ]
  assert.equal(publicDatabaseMessage(denied), publicDatabaseMessage(absent))
  assert.match(publicDatabaseMessage(absent), /"roads"/)
})

test('what is wrong with a query stays in the words of the database, without paths of the server', () => {
  const kept = [
    { code: '42703', message: 'column "nmae" does not exist' },
    { code: '22012', message: 'division by zero' },
    { code: '42883', message: 'function st_area(text) does not exist' },
    { code: '42704', message: 'type "mood" does not exist' },
    { code: '42P01', message: 'missing FROM-clause entry for table "q"' },
    { code: '22P02', message: 'invalid input syntax for type integer: "a/b/c"' },
  ]
  for (const error of kept) assert.equal(publicDatabaseMessage(error), error.message)
  const path = { code: 'XX000', message: 'proj_create: cannot open /usr/share/proj/proj.db: no such file' }
  assert.equal(publicDatabaseMessage(path), 'proj_create: cannot open …: no such file')
  const detail = { code: 'XX000', message: 'bad geometry\nDETAIL: in "app_x"."roads"' }
  assert.equal(publicDatabaseMessage(detail), 'bad geometry')
})
