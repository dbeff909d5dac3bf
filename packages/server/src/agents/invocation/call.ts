import Type, { type Static } from 'typebox'
import { freeObject, freeValue, ignoringOthers } from '../../api/http/input/bounded-schemas.ts'
import { ApiError } from '../../kernel/errors.ts'
import { overLimit } from '../../kernel/limits/limits.ts'
import type { AgentLimits } from '../limits.ts'
import type { InvokeOptions, Message } from '../protocol.ts'

const maxMetadata = 16

/** The bytes of all messages are counted, and their excess has a code of its own. */
const messageSchema = Type.Object(
  { role: Type.Enum(['user', 'assistant']), content: Type.String({ maxLength: 1_048_576 }) },
  ignoringOthers,
)
const optionsSchema = Type.Object(
  {
    model: Type.Optional(Type.String({ maxLength: 255 })),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 10 })),
    maxOutputTokens: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
  },
  ignoringOthers,
)

/** `input` is checked below, because its faults have an error code of their own. */
export const callSchema = Type.Object(
  {
    input: Type.Optional(
      freeValue('agentInputBytes', { description: 'Required: what to ask the agent, a text that is not empty' }),
    ),
    conversationId: Type.Optional(
      Type.String({
        maxLength: 128,
        pattern: '^[\\w.:-]{1,128}$',
        examples: ['support-42'],
        description: 'Groups turns; stays with one worker if it can',
      }),
    ),
    messages: Type.Optional(Type.Array(messageSchema, { maxItems: 100, description: 'Earlier turns' })),
    context: Type.Optional(
      freeObject('agentInputBytes', { description: 'What the user sees: bbox, center, zoom, datasetIds …' }),
    ),
    options: Type.Optional(optionsSchema),
    metadata: Type.Optional(
      Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 512 }), { maxProperties: maxMetadata }),
    ),
    timeoutMs: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 86_400_000, description: 'Until the first output; only lowers the agent’s' }),
    ),
  },
  { title: 'AgentInvokeDto', ...ignoringOthers, examples: [{ input: 'Which parks are near the river?' }] },
)

/** The body of an invocation request, validated. */
export type AgentCall = {
  readonly input: string
  readonly conversationId?: string
  readonly messages?: Message[]
  readonly context?: Record<string, unknown>
  readonly options?: InvokeOptions
  readonly metadata?: Record<string, string>
  readonly timeoutMs?: number
}

const maxMessagesBytes = 524_288
const maxContextBytes = 65_536

export function readCall(body: Static<typeof callSchema>, { inputBytes }: AgentLimits): AgentCall {
  const { input, conversationId, messages, context, options, metadata, timeoutMs } = body
  if (typeof input !== 'string' || input === '') {
    throw new ApiError('input_required', 'body/input: must be text that is not empty', {
      faults: [{ path: 'body/input', code: 'required', message: 'must be text that is not empty' }],
    })
  }
  checkSize('input', input, inputBytes)
  if (messages) checkSize('messages', JSON.stringify(messages), maxMessagesBytes)
  if (context) checkSize('context', JSON.stringify(context), maxContextBytes)
  return {
    input,
    ...(conversationId !== undefined && { conversationId }),
    ...(messages && { messages: messages as Message[] }),
    ...(context && { context: context as Record<string, unknown> }),
    ...(options && { options: options as InvokeOptions }),
    ...(metadata && { metadata }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  }
}

function checkSize(name: string, text: string, most: number): void {
  if (Buffer.byteLength(text) <= most) return
  throw overLimit('agentInputBytes', most, `must not be larger than ${most} bytes`, { path: `body/${name}` })
}
