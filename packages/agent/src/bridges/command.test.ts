import assert from 'node:assert/strict'
import test from 'node:test'
import { until } from '../../../server/testing/until.ts'
import { ask, invocationOf } from '../../testing/ask.ts'
import { isAlive } from '../../testing/worker-process.ts'
import { ProviderError, Reject } from '../errors.ts'
import { command } from './command.ts'

test('the input goes in, what is printed comes out as it is printed', async () => {
  const { texts } = await ask(command({ command: 'read line; echo "$line!"; sleep 0.2; printf "é😀"' }), {
    input: 'hi\n',
  })
  assert.deepEqual(texts, ['hi!\n', 'é😀'])
})

test('a command that does not read a large input answers all the same', async () => {
  assert.equal((await ask(command({ command: 'echo ok' }), { input: 'x'.repeat(1_000_000) })).text, 'ok\n')
})

test('the command knows its invocation and not the platform’s key', async (t) => {
  process.env.GRATICULE_API_KEY = 'secret'
  t.after(() => delete process.env.GRATICULE_API_KEY)
  const handler = command({
    command:
      'echo "$GRATICULE_INVOCATION_ID $GRATICULE_CONVERSATION_ID $GRATICULE_CALLER $GRATICULE_CONTEXT $GRATICULE_API_KEY"',
  })
  const { text } = await ask(handler, { conversationId: 'c', caller: 'w', context: { zoom: 2 } })
  assert.equal(text, 'i c w {"zoom":2} \n')
})

test('an exit code says whose fault it was', async () => {
  await assert.rejects(ask(command({ command: 'echo "Ask otherwise." >&2; exit 65' })), new Reject('Ask otherwise.'))
  await assert.rejects(ask(command({ command: 'exit 75' })), ProviderError)
  await assert.rejects(ask(command({ command: 'echo half; echo why >&2; exit 3' })), /ended with 3: why/)
  await assert.rejects(ask(command({ command: 'kill -9 $$' })), /SIGKILL/)
})

test('what a command leaves running does not hold the answer open', { timeout: 100_000 }, async () => {
  const { text } = await ask(command({ command: 'sleep 300 & echo $!' }))
  await until(() => !isAlive(Number(text)))
})

test('cancel ends the command and all it started, also what does not want to', { timeout: 100_000 }, async () => {
  const abort = new AbortController()
  const { invocation } = invocationOf({ signal: abort.signal })
  const stubborn = 'trap "" TERM; sh -c "trap \\"\\" TERM; sleep 300" & echo $! $$; sleep 300'
  const answer = (command({ command: stubborn })(invocation) as AsyncIterable<string>)[Symbol.asyncIterator]()
  const { value } = await answer.next()
  const pids = String(value).trim().split(' ').map(Number)
  assert.ok(pids.length === 2 && pids.every(isAlive))
  abort.abort()
  await assert.rejects(answer.next(), { name: 'AbortError' })
  await until(() => !pids.some(isAlive))
})

test('an answer nobody reads on ends the command', { timeout: 100_000 }, async () => {
  const { invocation } = invocationOf()
  let pid = 0
  for await (const text of command({ command: 'echo $$; exec yes' })(invocation) as AsyncIterable<string>) {
    pid = Number.parseInt(text, 10)
    break
  }
  await until(() => !isAlive(pid))
})
