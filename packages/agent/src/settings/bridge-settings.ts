import { type AnthropicOptions, anthropic } from '../bridges/anthropic.ts'
import { type CommandOptions, command } from '../bridges/command.ts'
import { type HttpOptions, http } from '../bridges/http.ts'
import { type OllamaOptions, ollama } from '../bridges/ollama.ts'
import { type OpenAiCompatibleOptions, openAiCompatible } from '../bridges/openai-compatible.ts'
import type { Handler } from '../invocation.ts'
import {
  address,
  allowOnly,
  type Env,
  fromVariables,
  headers,
  layered,
  type Members,
  membersOf,
  ollamaAddress,
  readMembers,
  type Setting,
  type Shape,
  text,
  texts,
  UsageError,
  wholeNumber,
  yesOrNo,
} from './setting.ts'

/** Creates the handler. `visible` is the environment that commands may see. */
type MakeHandler = (visible: Env) => Handler

type Bridge<Options> = {
  /** The options of the bridge's handler factory. */
  options: Shape<Options>
  /** The option that is set if the file or the flag gives only a text. */
  main: keyof Options & string
  needs?: keyof Options & string
  /** Environment variables for options that are not given. */
  variables?: Partial<Record<keyof Options & string, string>>
  make(options: Options, visible: Env): Handler
}

type Sources = { flags: Members; members: Members; env: Env }

const model = { model: text, system: text, apiKey: text, tools: yesOrNo }

/** Options that can be given only in code. */
type InCode = 'fetch' | 'fetchTools'

const bridges = {
  openAiCompatible: bridge<Omit<OpenAiCompatibleOptions, InCode>>({
    options: { ...model, baseUrl: address, headers },
    main: 'baseUrl',
    variables: { apiKey: 'OPENAI_API_KEY' },
    make: openAiCompatible,
  }),
  anthropic: bridge<Omit<AnthropicOptions, InCode>>({
    options: { ...model, baseUrl: address, maxOutputTokens: wholeNumber(1, 10_000_000) },
    main: 'model',
    needs: 'apiKey',
    variables: { apiKey: 'ANTHROPIC_API_KEY', baseUrl: 'ANTHROPIC_BASE_URL' },
    make: anthropic,
  }),
  ollama: bridge<Omit<OllamaOptions, InCode>>({
    options: { ...model, baseUrl: ollamaAddress },
    main: 'model',
    variables: { baseUrl: 'OLLAMA_HOST' },
    make: ollama,
  }),
  http: bridge<Omit<HttpOptions, 'fetch'>>({
    options: { url: address, headers },
    main: 'url',
    needs: 'url',
    make: http,
  }),
  command: bridge<CommandOptions>({
    options: { command: text, env: texts },
    main: 'command',
    needs: 'command',
    make: (options, visible) => command({ env: visible, ...options }),
  }),
}

export const bridgeNames = Object.keys(bridges) as readonly (keyof typeof bridges)[]

/** The configured bridge, if any. One given by flags replaces that of the file. */
export function readBridge({ flags, members, env }: Sources): MakeHandler | undefined {
  const chosen = [flags, members].find((source) => bridgeNames.some((name) => source.has(name))) ?? flags
  const [name, second] = bridgeNames.filter((name) => chosen.has(name))
  if (second) throw new UsageError(`${chosen.get(second)?.where} is a second bridge beside ${name}. Choose one.`)
  return name && bridges[name](name, { flags, members, env })
}

function bridge<Options extends object>({ options: shape, main, needs, variables = {}, make }: Bridge<Options>) {
  return (name: string, { flags, members, env }: Sources): MakeHandler => {
    const places = [members.get(name), flags.get(name)].filter((setting) => setting !== undefined)
    const entries = [...places.flatMap((setting) => optionsOf(setting, main)), ...modelFlags(flags)]
    allowOnly(Object.keys(shape), new Map(entries), name)
    const options = readMembers(shape, layered(fromVariables(variables, env), entries))
    if (needs && !(needs in options)) {
      const variable = variables[needs]
      throw new UsageError(`${places.at(-1)?.where} needs ${needs}${variable ? ` (or ${variable})` : ''}.`)
    }
    return (visible) => make(options as Options, visible)
  }
}

const optionsOf = (setting: Setting, main: string): (readonly [string, Setting])[] =>
  typeof setting.what === 'string' ? [[main, setting]] : [...membersOf(setting)]

const modelFlags = (flags: Members) => [...flags].filter(([name]) => name === 'model' || name === 'system')
