// The tool loop: asks the model, carries out the tool calls it requests, and asks again until it answers.
import { ProviderError } from '../errors.ts'
import type { Invocation } from '../invocation.ts'
import type { Usage } from '../protocol.ts'
import { follow, type Step, sum, type ToolCall, type Turn } from './model-turn.ts'
import { failed, openToolbox, type Toolbox, type ToolResult, type ToolSpec } from './toolbox.ts'
import { type Fetch, post, textOf, type UpstreamRequest } from './upstream.ts'

/** The tool options of every bridge to a model. */
export type ToolOptions = {
  /** Whether the model may use the platform's tools. @defaultValue true */
  tools?: boolean
  /** The fetch for tool calls. @defaultValue the global fetch */
  fetchTools?: Fetch
}

/** The tools of one turn. With `mayCall` false the model must answer without further calls. */
export type Offer = { readonly specs: readonly ToolSpec[]; readonly mayCall: boolean }

/** A tool call and its result. */
export type ToolUse = { readonly call: ToolCall; readonly input: object; readonly result: ToolResult }

/** The request and message formats of a provider. */
export type Dialect<Message> = {
  readonly messages: readonly Message[]
  /** The request for the next turn. `offer` is undefined if there are no tools. */
  request(messages: readonly Message[], offer: Offer | undefined): Omit<UpstreamRequest, 'signal'>
  /** Parses the provider's response stream into the steps of a turn. */
  steps(text: AsyncIterable<string>): AsyncIterable<Step>
  /** The turn and the results of its calls, as messages for the next request. */
  used(turn: Turn, used: readonly ToolUse[]): readonly Message[]
}

type Ask<Message> = (messages: readonly Message[], offer: Offer | undefined) => Promise<AsyncIterable<Step>>

/** The offered tools in OpenAI's function format. */
export const functionsOf = ({ specs }: Offer): object[] =>
  specs.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description, parameters: inputSchema },
  }))

/** The limits of tool use for one answer. */
const bounds = { rounds: 8, callsPerRound: 8, resultBytes: 32 * 1024, allResultBytes: 256 * 1024, artifacts: 16 }

/** Answers with a model that can use the platform's tools. */
export async function* answerWithTools<Message>(
  dialect: Dialect<Message>,
  invocation: Invocation,
  { tools = true, fetchTools }: ToolOptions,
): AsyncGenerator<string> {
  const toolbox = tools ? await openToolbox(invocation, { fetch: fetchTools }) : undefined
  const use = toolbox && createUse(toolbox, invocation)
  const { signal } = invocation
  const ask: Ask<Message> = async (messages, offer) =>
    dialect.steps(textOf(await post({ ...dialect.request(messages, offer), signal }), signal))
  let messages = dialect.messages
  let spent: Usage = {}
  for (let round = 0; ; round++) {
    const mayCall = round < bounds.rounds
    const steps = await begin(ask, messages, toolbox && { specs: toolbox.specs, mayCall }, round === 0)
    const turn = yield* follow(steps, invocation, spent)
    if (!use || !wantsTools(turn)) return
    if (!mayCall) throw new ProviderError(`The model still asks for tools after ${bounds.rounds} rounds, the limit.`)
    messages = [...messages, ...dialect.used(turn, await use(turn.calls))]
    spent = sum(spent, turn.facts.usage ?? {})
    // The text of the next turn starts a new paragraph.
    if (/\S$/.test(turn.text)) yield '\n\n'
  }
}

/** A truncated turn may end in the middle of a call, so its calls are not carried out. */
const wantsTools = ({ calls, facts: { finishReason } }: Turn): boolean =>
  calls.length > 0 && finishReason !== 'length' && finishReason !== 'content_filter'

/** Starts the first turn. A model that does not support tools is asked again without them, before any text was sent. */
async function begin<Message>(
  ask: Ask<Message>,
  messages: readonly Message[],
  offer: Offer | undefined,
  isFirst: boolean,
): Promise<AsyncIterable<Step>> {
  try {
    return await ask(messages, offer)
  } catch (error) {
    if (!isFirst || !offer || !refusesTools(error)) throw error
    return ask(messages, undefined)
  }
}

const refusesTools = (error: unknown): boolean =>
  error instanceof ProviderError &&
  (error.status === 400 || error.status === 422 || error.status === 501) &&
  /tool|function/i.test(error.detail ?? '')

/** Carries out calls sequentially, because each is a query on a tenant's database. */
function createUse(toolbox: Toolbox, invocation: Invocation) {
  let bytes = 0
  const artifacts: object[] = []

  function bounded({ text, ...rest }: ToolResult): ToolResult {
    const room = Math.min(bounds.resultBytes, bounds.allResultBytes - bytes)
    if (room <= 0) return failed('The results so far are already too long. Answer with what you know.')
    const short = beginningOf(text, room)
    bytes += Buffer.byteLength(short)
    return { ...rest, text: short === text ? text : `${short}\n[cut off: ask for less]` }
  }

  async function carryOut(call: ToolCall, index: number): Promise<ToolUse> {
    const input = readInput(call.input)
    if (index >= bounds.callsPerRound) {
      const result = failed(`Only ${bounds.callsPerRound} tools can be called at once. Call this one again.`)
      return { call, input: input ?? {}, result }
    }
    if (!input) return { call, input: {}, result: failed('The arguments are not a JSON object.') }
    if (!toolbox.specs.some(({ name }) => name === call.name)) {
      const names = toolbox.specs.map(({ name }) => name).join(', ')
      return { call, input, result: failed(`There is no tool of this name. Tools: ${names}.`) }
    }
    invocation.progress()
    const result = await toolbox.call(call.name, input)
    if (isView(result.value) && artifacts.length < bounds.artifacts) {
      artifacts.push(result.value)
      invocation.finish({ artifacts })
    }
    return { call, input, result: bounded(result) }
  }

  return async (calls: readonly ToolCall[]): Promise<ToolUse[]> => {
    const used: ToolUse[] = []
    for (const [index, call] of calls.entries()) used.push(await carryOut(call, index))
    return used
  }
}

/** The result of show_on_map is also an artifact of the answer, for the caller's map. */
const isView = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && 'type' in value && value.type === 'mapView'

/** Parses the arguments; an empty text means none. */
function readInput(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text.trim() || '{}')
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Truncates a text to a number of bytes, without splitting a character. */
function beginningOf(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  return bytes.length <= maxBytes ? text : new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: true })
}
