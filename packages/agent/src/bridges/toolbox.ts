// A client for the platform's tools, by the Model Context Protocol (MCP).
import type { Invocation } from '../invocation.ts'
import type { Tools } from '../protocol.ts'
import type { Fetch } from './upstream.ts'

/** The description of a tool for a model. */
export type ToolSpec = { readonly name: string; readonly description: string; readonly inputSchema: object }

/** The result of a tool, as text for the model. */
export type ToolResult = {
  readonly text: string
  readonly isError: boolean
  /** The structured content, if the tool returns any. */
  readonly value?: unknown
}

/** The platform's tools for one invocation. */
export type Toolbox = {
  readonly specs: readonly ToolSpec[]
  /** Rejects only when the invocation ends; any other failure is a result that the model can read. */
  call(name: string, input: object): Promise<ToolResult>
}

type Message = { result?: Record<string, unknown>; error?: { message?: unknown } }

const protocolVersion = '2025-11-25'
const maxAnswerBytes = 1024 * 1024
const callTimeoutMs = 30_000

/**
 * Lists the tools. MCP without a session is one POST for each call. Undefined if there are none or they cannot be reached:
 * the model then answers without tools.
 */
export async function openToolbox(
  { tools, signal }: Invocation,
  { fetch = globalThis.fetch }: { fetch?: Fetch | undefined },
): Promise<Toolbox | undefined> {
  if (!tools) return undefined
  const ask = (method: string, params: object) => request(fetch, tools, { method, params }, signal)
  try {
    const { result } = await ask('tools/list', {})
    const specs = readSpecs(result?.tools)
    return specs.length === 0 ? undefined : { specs, call: (name, input) => callTool(ask, signal, name, input) }
  } catch {
    signal.throwIfAborted()
    return undefined
  }
}

type Ask = (method: string, params: object) => Promise<Message>

async function callTool(ask: Ask, signal: AbortSignal, name: string, input: object): Promise<ToolResult> {
  try {
    const { result, error } = await ask('tools/call', { name, arguments: input })
    if (!result) return failed(String(error?.message ?? 'The tool did not answer.'))
    return { text: textOf(result.content), isError: result.isError === true, value: result.structuredContent }
  } catch (error) {
    signal.throwIfAborted()
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    return failed(isLate ? `The tool took longer than ${callTimeoutMs / 1_000} s.` : 'The tool cannot be reached.')
  }
}

export const failed = (text: string): ToolResult => ({ text, isError: true })

async function request(fetch: Fetch, { mcpUrl, token }: Tools, message: object, signal: AbortSignal): Promise<Message> {
  const response = await fetch(mcpUrl, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': protocolVersion,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(callTimeoutMs)]),
    redirect: 'manual',
  })
  const text = await boundedText(response.body)
  if (!response.ok) throw new Error(`The tools answered with status ${response.status}.`)
  return JSON.parse(text) as Message
}

async function boundedText(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body ?? []) {
    length += chunk.length
    if (length > maxAnswerBytes) throw new RangeError('The answer of the tool is too large.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function readSpecs(tools: unknown): ToolSpec[] {
  if (!Array.isArray(tools)) return []
  return tools.flatMap(({ name, description, inputSchema }) =>
    typeof name === 'string' && typeof inputSchema === 'object' && inputSchema !== null
      ? [{ name, description: String(description ?? ''), inputSchema }]
      : [],
  )
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return ''
  return content.flatMap((block) => (block?.type === 'text' ? [String(block.text)] : [])).join('\n')
}
