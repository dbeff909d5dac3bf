import { ProviderError } from '../errors.ts'
import type { Invocation } from '../invocation.ts'
import type { Usage } from '../protocol.ts'
import { follow, type Step, sum, type ToolCall, type Turn } from './steps.ts'
import { failed, openToolbox, type Toolbox, type ToolResult, type ToolSpec } from './toolbox.ts'
import { type Fetch, post, textOf, type UpstreamRequest } from './upstream.ts'

/** What every bridge to a model can be told of tools. */
export type ToolOptions = {
  /** Whether the model may use the platform's tools. @defaultValue true */
  tools?: boolean
  /** How the tools are reached. @defaultValue the fetch of the process */
  fetchTools?: Fetch
}

/** What the model is offered in one turn; with `mayCall` false it has to answer with what it knows. */
export type Offer = { readonly specs: readonly ToolSpec[]; readonly mayCall: boolean }

/** A call that was carried out. */
export type Used = { readonly call: ToolCall; readonly input: object; readonly result: ToolResult }

/** How a provider is spoken to. */
export type Dialect<Message> = {
  readonly messages: readonly Message[]
  /** The request for the next turn. Without tools there is no offer. */
  request(messages: readonly Message[], offer: Offer | undefined): Omit<UpstreamRequest, 'signal'>
  /** The steps of a turn, from the text of the provider's answer. */
  steps(text: AsyncIterable<string>): AsyncIterable<Step>
  /** The turn and the results of its calls, as the provider wants to see them again. */
  used(turn: Turn, used: readonly Used[]): readonly Message[]
}

type Ask<Message> = (messages: readonly Message[], offer: Offer | undefined) => Promise<AsyncIterable<Step>>

/** The offered tools as OpenAI describes functions. */
export const functionsOf = ({ specs }: Offer): object[] =>
  specs.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description, parameters: inputSchema },
  }))

/** How much a model may use tools for one answer. */
const bounds = { rounds: 8, callsPerRound: 8, resultBytes: 32 * 1024, allResultBytes: 256 * 1024, artifacts: 16 }

/** Answers with a model that may use the platform's tools before and while it answers. */
export async function* answerWithTools<Message>(
  dialect: Dialect<Message>,
  invocation: Invocation,
  { tools = true, fetchTools }: ToolOptions,
): AsyncGenerator<string> {
  const toolbox = tools ? await openToolbox(invocation, { fetch: fetchTools }) : undefined
  const use = toolbox && createUse(toolbox, invocation)
  const { signal } = invocation
  const ask: Ask<Message> = async (said, offer) =>
    dialect.steps(textOf(await post({ ...dialect.request(said, offer), signal }), signal))
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
    // What the model says next is another paragraph.
    if (/\S$/.test(turn.text)) yield '\n\n'
  }
}

/** A turn that was cut off may have been cut off within a call. */
const wantsTools = ({ calls, facts: { finishReason } }: Turn): boolean =>
  calls.length > 0 && finishReason !== 'length' && finishReason !== 'content_filter'

/** Not every model knows tools. One that does not is asked again without, before anything was said. */
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

/** Carries out calls, one after the other: each is a query on somebody's database. */
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

  async function carryOut(call: ToolCall, index: number): Promise<Used> {
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

  return async (calls: readonly ToolCall[]): Promise<Used[]> => {
    const used: Used[] = []
    for (const [index, call] of calls.entries()) used.push(await carryOut(call, index))
    return used
  }
}

/** What show_on_map makes is for the map of whoever asked, not only for the model. */
const isView = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && 'type' in value && value.type === 'mapView'

/** A call without arguments may have no text at all. */
function readInput(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text.trim() || '{}')
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** As much of a text as so many bytes hold, never half a character. */
function beginningOf(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  return bytes.length <= maxBytes ? text : new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: true })
}
