/** The limits of agents: their invocations and their workers. `limits.ts` puts the tables together. */
import type { Limit } from './limit.ts'

export const agentLimits = {
  agentInputBytes: {
    what: 'Input of an agent',
    setting: 'AGENT_INPUT_BYTES',
    unit: 'bytes',
    code: 'input_too_large',
    countedIn: 'request',
  },
  agentInvocations: {
    what: 'Invocations of an agent that has `maxConcurrency`',
    value: 0,
    code: 'agent_busy',
    countedIn: 'installation',
    countedFor: 'agent',
  },
  bridgeCalls: {
    what: 'Invocations that the server’s bridges answer',
    setting: 'AGENT_BRIDGE_CALLS_PER_APPLICATION',
    code: 'agent_busy',
    countedIn: 'machine',
    countedFor: 'application',
  },
  workerConnects: {
    what: 'Workers that connect with a key; five times as many at once',
    value: 10,
    unit: 'per second',
    code: 'busy',
    countedIn: 'machine',
    countedFor: 'key',
  },
  agentWorkers: {
    what: 'Workers of an agent',
    setting: 'AGENT_WORKERS',
    code: 'busy',
    countedIn: 'installation',
    countedFor: 'agent',
  },
  applicationWorkers: {
    what: 'Workers of all agents',
    setting: 'AGENT_WORKERS_PER_APPLICATION',
    code: 'busy',
    countedIn: 'machine',
    countedFor: 'application',
  },
} as const satisfies Record<string, Limit>
