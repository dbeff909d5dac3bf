import assert from 'node:assert/strict'
import test from 'node:test'
import { run } from './cli.ts'
import { UsageError } from './settings/setting.ts'

const env = { GRATICULE_URL: 'http://127.0.0.1:9', GRATICULE_API_KEY: 'k' }

test('a command line that cannot work says what is missing', async () => {
  const wrong: [string, RegExp, NodeJS.ProcessEnv?][] = [
    ['', /A command is required: serve/],
    ['dance --agent a --command cat', /A command is required: serve/],
    ['serve --command cat', /needs --agent ID/],
    ['serve --agent a --command cat', /needs --url URL/, { GRATICULE_API_KEY: 'k' }],
    ['serve --agent a --command cat', /needs --api-key KEY/, { GRATICULE_URL: 'http://127.0.0.1:9' }],
    ['serve --agent a', /needs --openai-compatible, .* or --command/],
    ['serve --agent a --command cat --ollama m', /--command is a second bridge beside ollama\. Choose one/],
    ['serve --agent a --anthropic', /ANTHROPIC_API_KEY/],
    ['serve --agent a --http ftp://x', /must be an http/],
    ['serve --agent a --command cat --url nowhere', /must be an http/],
    ['serve --agent a --command cat --capacity many', /capacity/],
    ['serve --agent a --command cat --drain-seconds -', /drain-seconds must be a whole number/],
    ['serve --agent a --command cat --model m', /--model is not known\. Allowed in command: command, env/],
    ['serve --agent a --command cat --unknown', /^Unknown option '--unknown'\.\n/],
    ['serve --agent', /^Option '--agent <value>' argument missing\.\n/],
    ['serve --agent --command cat', /^Option '--agent' argument is ambiguous\.\n/],
  ]
  for (const [line, words, settings = env] of wrong) {
    await assert.rejects(run(line.split(' ').filter(Boolean), settings), (error) => {
      assert.ok(error instanceof UsageError)
      assert.match(error.message, words)
      assert.match(error.message, /^.+\nRun graticule-agent --help to see what is allowed\.$/)
      return true
    })
  }
})
