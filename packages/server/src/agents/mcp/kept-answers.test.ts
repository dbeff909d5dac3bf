import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keepAnswer } from './kept-answers.ts'

// One database is enough: none is asked.

let versions = 0

/** Answers as the protocol's library does, and counts. */
function library(result: object = { tools: ['a'] }) {
  const asked = { headers: { 'mcp-protocol-version': '2025-06-18' }, version: `v${++versions}` }
  let calls = 0
  const send = (body: unknown, headers: Record<string, string> = asked.headers) =>
    keepAnswer({ ...asked, headers }, body, async () => {
      calls++
      const { id } = body as { id?: unknown }
      return { status: 200, json: JSON.stringify({ ...result, jsonrpc: '2.0', id }) }
    })
  return { send, calls: () => calls }
}

const list = { jsonrpc: '2.0', method: 'tools/list' }

test('the list of tools is made once for equal messages, and each gets its own id', async () => {
  const { send, calls } = library({ result: { tools: ['a'] } })
  for (const id of [1, 2, 'three', '"', 0]) {
    const { status, json } = await send({ ...list, id })
    assert.deepEqual([status, JSON.parse(json ?? '')], [200, { result: { tools: ['a'] }, jsonrpc: '2.0', id }])
  }
  assert.equal(calls(), 1)
})

test('other parameters, headers and versions have answers of their own', async () => {
  const { send, calls } = library({ result: {} })
  await send({ ...list, id: 1 })
  await send({ ...list, id: 1, params: { cursor: 'x' } })
  await send({ ...list, id: 1 }, { 'mcp-protocol-version': '2025-03-26' })
  await send({ ...list, id: 1, jsonrpc: '1.0' })
  assert.equal(calls(), 4)
  const other = library({ result: {} })
  await other.send({ ...list, id: 1 })
  assert.equal(other.calls(), 1)
})

test('calls of tools, notifications, odd ids and failures are never kept', async () => {
  for (const body of [
    { jsonrpc: '2.0', method: 'tools/call', id: 1, params: { name: 'list_datasets' } },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    ...[null, 1.5, { a: 1 }, undefined].map((id) => ({ ...list, id })),
    ...[null, 'tools/list', [{ ...list, id: 1 }]],
  ]) {
    const { send, calls } = library({ result: {} })
    await send(body ?? {})
    await send(body ?? {})
    assert.equal(calls(), 2, JSON.stringify(body))
  }
  const failing = library({ error: { code: 1, message: 'no' } })
  await failing.send({ ...list, id: 1 })
  await failing.send({ ...list, id: 1 })
  assert.equal(failing.calls(), 2)
})
