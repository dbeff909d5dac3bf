import { parseArgs } from 'node:util'
import { ConnectionRefused } from './errors.ts'
import { serveAgent } from './serve-agent.ts'
import { bridgeNames } from './settings/bridge-settings.ts'
import { type Env, type Members, type Setting, UsageError } from './settings/setting.ts'
import { readSettings, type Settings } from './settings/settings.ts'
import { parseSettings, readSettingsText } from './settings/settings-file.ts'
import { terminationSignal } from './termination-signal.ts'
import { version } from './version.ts'

const usage = `Usage: graticule-agent serve --agent ID BRIDGE [options]
       graticule-agent serve [--config FILE] [options]

Serves agents of a Graticule platform until SIGTERM or SIGINT; what runs is finished first.

Bridge (one of)
  --openai-compatible URL  a model behind a chat completions API, for example https://api.openai.com/v1
                           (key: OPENAI_API_KEY)
  --anthropic              a model of Anthropic (key: ANTHROPIC_API_KEY; elsewhere: ANTHROPIC_BASE_URL)
  --ollama MODEL           a model that Ollama runs (elsewhere: OLLAMA_HOST)
  --http URL               a web service that is sent the invocation
  --command CMD            a command: the input on its stdin, the answer on its stdout

Options
  --config FILE            settings in YAML, of one agent or several; flags win over them
                           (default where no bridge is given: agent.yaml, if there is one)
  --agent ID               which agent
  --url URL                where the platform is (or GRATICULE_URL)
  --api-key KEY            a key with the access agents write (or GRATICULE_API_KEY)
  --model NAME             which model; without it callers choose
  --system TEXT            what the model is told before all else
  --capacity N             how many invocations at once, of each agent (default: 8)
  --drain-seconds N        how long what runs may take after SIGTERM (default: 25)
  --help                   show this
  --version                show the version of this command

Exit codes
  0  it was told to stop
  1  the platform refused the key or an agent, or the command failed
  2  the flags or the file are wrong
`

const options = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
  config: { type: 'string' },
  agent: { type: 'string' },
  url: { type: 'string' },
  'api-key': { type: 'string' },
  model: { type: 'string' },
  system: { type: 'string' },
  capacity: { type: 'string' },
  'drain-seconds': { type: 'string' },
  'openai-compatible': { type: 'string' },
  anthropic: { type: 'boolean' },
  ollama: { type: 'string' },
  http: { type: 'string' },
  command: { type: 'string' },
} as const

/** The platform refused some of the agents. */
export class NotServed extends Error {
  override readonly name = 'NotServed'
}

type Values = ReturnType<typeof read>['values']

/** File members whose names differ from their flags. */
const memberNames: Readonly<Record<string, string>> = {
  'api-key': 'apiKey',
  'drain-seconds': 'drainSeconds',
  'openai-compatible': 'openAiCompatible',
}

/** Runs the command line. Resolves when the worker has stopped. */
export async function run(args: readonly string[], env: Env): Promise<void> {
  const { values, positionals } = read(args)
  if (values.help) return console.log(usage)
  if (values.version) return console.log(version)
  if (positionals.join(' ') !== 'serve') throw withHint('A command is required: serve.')
  const flags = flagsOf(values)
  const file = await readFile(values.config, flags, env)
  await serve(settingsOf(flags, file, env))
}

function read(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw withHint(firstSentence(error as Error))
  }
}

function flagsOf({ help: _, version: __, config: ___, ...values }: Values): Members {
  const flags = Object.entries(values).map(([flag, value]) => {
    const what = typeof value === 'string' ? value : ''
    return [memberNames[flag] ?? flag, { where: `--${flag}`, what }] as const
  })
  return new Map(flags)
}

async function readFile(config: string | undefined, flags: Members, env: Env): Promise<Setting | undefined> {
  if (config === undefined && bridgeNames.some((name) => flags.has(name))) return undefined
  const path = config ?? 'agent.yaml'
  const text = await readSettingsText(path)
  if (text !== undefined) return parseSettings(text, path, env)
  if (config !== undefined) throw new UsageError(`There is no file ${config}.`)
}

function settingsOf(flags: Members, file: Setting | undefined, env: Env): Settings {
  try {
    return readSettings({ flags, file, env })
  } catch (error) {
    throw error instanceof UsageError && !file ? withHint(error.message) : error
  }
}

/** Serves all agents until a termination signal. If the platform refuses one, the others continue. */
async function serve({ agents, drainMs }: Settings): Promise<void> {
  const stop = terminationSignal()
  const refused: string[] = []
  const served = agents.map(async ({ handler, ...agent }) => {
    try {
      await serveAgent({ ...agent, drainMs, signal: stop.signal }, handler)
    } catch (error) {
      if (agents.length === 1 || !(error instanceof ConnectionRefused)) throw error
      refused.push(agent.agentId)
      console.error(`[agent ${agent.agentId}] ${error.message}`)
    }
  })
  await Promise.all(served)
  stop.dispose()
  if (refused.length > 0) throw new NotServed(`The platform refused these agents: ${refused.join(', ')}.`)
}

const withHint = (message: string): UsageError =>
  new UsageError(`${message}\nRun graticule-agent --help to see what is allowed.`)

/** The rest of Node's message is advice on positional arguments, which does not apply here. */
const firstSentence = ({ message }: Error): string => `${message.split(/\.\s/)[0]?.replace(/\.$/, '')}.`
