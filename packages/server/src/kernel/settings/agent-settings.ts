// The settings of agents, a part of those in config.ts.
import Type from 'typebox'
import { milliseconds, size } from './setting-types.ts'

export const agentSettings = {
  AGENT_BRIDGES: Type.Enum(['off', 'on'], {
    default: 'off',
    description: 'Whether the server itself answers for agents of the types openai, anthropic, ollama and http',
  }),
  AGENT_BRIDGE_CALLS_PER_APPLICATION: Type.Integer({
    minimum: 1,
    default: 64,
    description: 'Calls that a replica so answers at once for all agents of an application; the next get 429',
  }),
  AGENT_INPUT_BYTES: size(262_144, 'The largest input of an agent'),
  AGENT_OUTPUT_BYTES: size(4_194_304, 'The largest answer of an agent'),
  AGENT_WINDOW_BYTES: size(262_144, 'How much of an answer may be on its way to a client that reads slowly'),
  AGENT_FRAME_BYTES: size(1_048_576, 'The largest message of a worker'),
  AGENT_WORKERS: Type.Integer({ minimum: 1, default: 32, description: 'Workers that may serve one agent' }),
  AGENT_WORKERS_PER_APPLICATION: Type.Integer({ minimum: 1, default: 256, description: 'And all agents together' }),
  AGENT_HELLO_MS: milliseconds(5_000, 'A worker must introduce itself within this time'),
  AGENT_ACCEPT_MS: milliseconds(5_000, 'A worker must accept an invocation within this time'),
  AGENT_CANCEL_GRACE_MS: milliseconds(5_000, 'A worker that ignores a cancellation gets its slot back after this time'),
  AGENT_PING_MS: milliseconds(15_000, 'How often idle workers are asked for a sign of life'),
  AGENT_BUSY_PING_MS: milliseconds(5_000, 'How often workers with work are'),
  AGENT_KEEPALIVE_MS: milliseconds(15_000, 'How often a silent stream carries a comment'),
  AGENT_STALLED_MS: milliseconds(30_000, 'A client that takes nothing of a stream for so long is cut off'),
  AGENT_DRAIN_MS: milliseconds(24_000, 'How long answers that have begun may take once the server is told to stop'),
  AGENT_HISTORY_DAYS: Type.Integer({ minimum: 1, default: 30, description: 'How long invocations are remembered' }),
}
