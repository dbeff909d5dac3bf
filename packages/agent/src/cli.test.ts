import assert from 'node:assert/strict'
import test from 'node:test'
import { run, UsageError } from './cli.ts'

const env = { GRATICULE_URL: 'http://127.0.0.1:9', GRATICULE_API_KEY: 'k' }

test('a command line that cannot work says what is missing', async () => {
  const wrong: [string, RegExp, NodeJS.ProcessEnv?][] = [
    ['', /Say what to do/],
    ['dance --agent a --command cat', /Say what to do/],
    ['serve --command cat', /which agent/],
    ['serve --agent a --command cat', /where the platform is/, { GRATICULE_API_KEY: 'k' }],
    ['serve --agent a --command cat', /Give a key/, { GRATICULE_URL: 'http://127.0.0.1:9' }],
    ['serve --agent a', /Choose one bridge/],
    ['serve --agent a --command cat --ollama m', /Choose one bridge/],
    ['serve --agent a --anthropic', /ANTHROPIC_API_KEY/],
    ['serve --agent a --http ftp://x', /not an http/],
    ['serve --agent a --command cat --url nowhere', /not an http/],
    ['serve --agent a --command cat --capacity many', /capacity/],
    ['serve --agent a --command cat --unknown', /unknown/],
  ]
  for (const [line, words, settings = env] of wrong) {
    await assert.rejects(run(line.split(' ').filter(Boolean), settings), (error) => {
      assert.ok(error instanceof UsageError)
      assert.match(error.message, words)
      assert.match(error.message, /Usage: graticule-agent/)
      return true
    })
  }
})
