import { parseArgs } from 'node:util'
import { anthropic } from './bridges/anthropic.ts'
import { command } from './bridges/command.ts'
import { http } from './bridges/http.ts'
import { ollama } from './bridges/ollama.ts'
import { openAiCompatible } from './bridges/openai-compatible.ts'
import type { Handler } from './invocation.ts'
import { serveAgent } from './serve-agent.ts'

const usage = `Usage: graticule-agent serve --agent ID BRIDGE [options]

Serves an agent of a Graticule platform until SIGTERM or SIGINT; what runs is finished first.

Bridge (one of)
  --openai-compatible URL  a model behind a chat completions API, for example https://api.openai.com/v1
                           (key: OPENAI_API_KEY)
  --anthropic              a model of Anthropic (key: ANTHROPIC_API_KEY; elsewhere: ANTHROPIC_BASE_URL)
  --ollama MODEL           a model that Ollama runs (elsewhere: OLLAMA_HOST)
  --http URL               a web service that is sent the invocation
  --command CMD            a command: the input on its stdin, the answer on its stdout

Options
  --agent ID               which agent
  --url URL                where the platform is (or GRATICULE_URL)
  --api-key KEY            a key with the access agents write (or GRATICULE_API_KEY)
  --model NAME             which model; without it callers choose
  --system TEXT            what the model is told before all else
  --capacity N             how many invocations at once (default: 8)
`

const options = {
  help: { type: 'boolean', short: 'h' },
  agent: { type: 'string' },
  url: { type: 'string' },
  'api-key': { type: 'string' },
  model: { type: 'string' },
  system: { type: 'string' },
  capacity: { type: 'string' },
  'openai-compatible': { type: 'string' },
  anthropic: { type: 'boolean' },
  ollama: { type: 'string' },
  http: { type: 'string' },
  command: { type: 'string' },
} as const

type Env = Readonly<Record<string, string | undefined>>
type Values = ReturnType<typeof read>['values']

/** The command line is wrong; the message says how. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Does what the command line asks for. Ends when the worker is told to stop. */
export async function run(args: readonly string[], env: Env): Promise<void> {
  const { values, positionals } = read(args)
  if (values.help) return console.log(usage)
  if (positionals.join(' ') !== 'serve') throw wrong('Say what to do: serve.')
  const url = values.url ?? env.GRATICULE_URL
  const apiKey = values['api-key'] ?? env.GRATICULE_API_KEY
  if (!values.agent) throw wrong('Say which agent: --agent ID.')
  if (!url) throw wrong('Say where the platform is: --url URL or GRATICULE_URL.')
  if (!apiKey) throw wrong('Give a key: --api-key KEY or GRATICULE_API_KEY.')
  const capacity = Number(values.capacity ?? 8)
  if (!(Number.isInteger(capacity) && capacity >= 1 && capacity <= 1_000)) throw wrong('--capacity is from 1 to 1000.')
  await serveAgent({ url: webAddress(url), apiKey, agentId: values.agent, capacity }, bridge(values, env))
}

function read(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw wrong((error as Error).message)
  }
}

function bridge(values: Values, env: Env): Handler {
  const made = Object.entries(bridges).filter(([name]) => values[name as keyof typeof bridges] !== undefined)
  const [first, ...others] = made
  if (!first || others.length > 0)
    throw wrong(
      `Choose one bridge: ${Object.keys(bridges)
        .map((name) => `--${name}`)
        .join(', ')}.`,
    )
  return first[1](values, env)
}

const bridges = {
  'openai-compatible': (values, env) =>
    openAiCompatible({
      ...modelSettings(values),
      ...(values['openai-compatible'] && { baseUrl: webAddress(values['openai-compatible']) }),
      ...(env.OPENAI_API_KEY && { apiKey: env.OPENAI_API_KEY }),
    }),
  anthropic: (values, env) => {
    if (!env.ANTHROPIC_API_KEY) throw wrong('--anthropic needs ANTHROPIC_API_KEY.')
    return anthropic({
      ...modelSettings(values),
      apiKey: env.ANTHROPIC_API_KEY,
      ...(env.ANTHROPIC_BASE_URL && { baseUrl: webAddress(env.ANTHROPIC_BASE_URL) }),
    })
  },
  ollama: (values, env) =>
    ollama({
      ...modelSettings(values),
      ...(values.ollama && { model: values.ollama }),
      ...(env.OLLAMA_HOST && { baseUrl: ollamaAddress(env.OLLAMA_HOST) }),
    }),
  http: (values) => http({ url: webAddress(values.http ?? '') }),
  command: (values) => command({ command: values.command ?? '' }),
} satisfies Record<string, (values: Values, env: Env) => Handler>

const modelSettings = ({ model, system }: Values) => ({ ...(model && { model }), ...(system && { system }) })

function webAddress(text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text
  throw wrong(`"${text}" is not an http or https address.`)
}

/** Ollama's own variable may leave out the scheme and the port, and may be the address it listens on. */
function ollamaAddress(host: string): string {
  const url = new URL(webAddress(/^https?:\/\//.test(host) ? host : `http://${host}`))
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  if (url.port === '' && !/^https?:\/\//.test(host)) url.port = '11434'
  return url.href
}

const wrong = (message: string): UsageError => new UsageError(`${message}\n\n${usage}`)
