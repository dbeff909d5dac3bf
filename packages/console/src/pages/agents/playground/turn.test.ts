import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { ApiError } from '@graticule/client'
import { advice, endOf, type Turn, turnMessages } from './turn.ts'

const open = new AbortController().signal
const apiError = (status: number, code: string) => new ApiError({ status, code, message: code })

test('there is advice for every failure of an agent that the documentation names', async () => {
  const text = await readFile(new URL('../../../../../../docs/agents.md', import.meta.url), 'utf8')
  const [, part = ''] = /## What can go wrong\n(.*?)\n## /s.exec(text) ?? []
  const rows = part.split('\n').filter((line) => /^\| \d{3} /.test(line))
  const codes = rows.flatMap((row) => [...(row.split('|')[2] ?? '').matchAll(/`(\w+)`/g)].map(([, code = '']) => code))
  assert.ok(codes.length >= 12)
  assert.deepEqual(
    codes.filter((code) => !(code in advice)),
    [],
  )
})

test('a stop by the reader is no failure, whatever the stream says then', () => {
  const stop = new AbortController()
  stop.abort()
  assert.deepEqual(endOf(apiError(0, 'network_error'), stop.signal, true), { state: 'stopped' })
})

test('a stream that is cut off is incomplete, and one that never began has failed', () => {
  const cut = apiError(0, 'truncated')
  assert.deepEqual(endOf(cut, open, false), { state: 'incomplete', error: cut })
  const broken = apiError(0, 'network_error')
  assert.equal(endOf(broken, open, true).state, 'incomplete')
  assert.equal(endOf(broken, open, false).state, 'failed')
  assert.equal(endOf(apiError(502, 'agent_disconnected'), open, true).state, 'failed')
})

test('earlier turns are sent along in order, without those that failed, and at most 100 messages', () => {
  const turn = (input: string, state: Turn['state'], answer: string): Turn => ({ id: input, input, state, answer })
  const turns = [turn('a', 'done', 'A'), turn('b', 'failed', 'half'), turn('c', 'stopped', 'C'), turn('d', 'done', '')]
  assert.deepEqual(
    turnMessages(turns).map(({ role, content }) => `${role} ${content}`),
    ['user a', 'assistant A', 'user c', 'assistant C'],
  )
  const many = Array.from({ length: 80 }, (_, index) => turn(String(index), 'done', 'x'))
  assert.equal(turnMessages(many).length, 100)
  assert.equal(turnMessages(many)[0]?.content, '30')
})
