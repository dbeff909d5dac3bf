import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statementName, statementShape } from './statement-shape.ts'

test('the shape of a statement has its names and parameters, and no literal in any form', () => {
  const secret = 'hunter2'
  const forms = [
    `'${secret}'`,
    `'it''s ${secret}'`,
    `E'\\'${secret}'`,
    `$$${secret}$$`,
    `$tag$ $$ ${secret} $tag$`,
    `/* ${secret} */ 1`,
    `1 -- ${secret}\n`,
    `U&'${secret}'`,
    `'${secret}`,
    `$$${secret}`,
  ]
  for (const form of forms) {
    const shape = statementShape(`SELECT ${form}, "Name" FROM app_1.places WHERE id = $1`)
    assert.ok(!shape.includes(secret), shape)
  }
  assert.equal(
    statementShape(`SELECT "a 1", b2 FROM svc.x\n  WHERE c = $1 AND d > 12.5e3 AND e = 'x' AND f IN (1, 2)`),
    'SELECT "a 1", b2 FROM svc.x WHERE c = $1 AND d > ? AND e = ? AND f IN (?, ?)',
  )
})

test('a long statement is cut, in linear time', () => {
  for (const piece of ["'", '$a', '/*', '(((', "E'\\", '"']) {
    const before = process.threadCpuUsage()
    assert.ok(statementShape(piece.repeat(200_000)).length <= 1_025)
    // Of CPU, which a busy neighbour does not use up.
    assert.ok(process.threadCpuUsage(before).user < 2_000_000, piece)
  }
})

test('spans group by verb and own table', () => {
  assert.equal(statementName('SELECT id FROM svc.apikeys WHERE id = $1'), 'SELECT svc.apikeys')
  assert.equal(statementName('insert into svc.uploads (id) VALUES ($1)'), 'INSERT svc.uploads')
  assert.equal(statementName('SELECT * FROM "app_1"."table of a tenant"'), 'SELECT')
})
