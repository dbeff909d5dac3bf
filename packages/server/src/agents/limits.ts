import type { Config } from '../kernel/settings/config.ts'

/** Limits for agents, workers and clients, from the settings `AGENT_…`. */
export type AgentLimits = ReturnType<typeof limitsOf>

export const limitsOf = (config: Pick<Config, Extract<keyof Config, `AGENT_${string}`>>) => ({
  inputBytes: config.AGENT_INPUT_BYTES,
  outputBytes: config.AGENT_OUTPUT_BYTES,
  windowBytes: config.AGENT_WINDOW_BYTES,
  frameBytes: config.AGENT_FRAME_BYTES,
  workersPerAgent: config.AGENT_WORKERS,
  workersPerApplication: config.AGENT_WORKERS_PER_APPLICATION,
  bridgeCallsPerApplication: config.AGENT_BRIDGE_CALLS_PER_APPLICATION,
  helloMs: config.AGENT_HELLO_MS,
  acceptMs: config.AGENT_ACCEPT_MS,
  cancelGraceMs: config.AGENT_CANCEL_GRACE_MS,
  pingMs: config.AGENT_PING_MS,
  busyPingMs: config.AGENT_BUSY_PING_MS,
  keepaliveMs: config.AGENT_KEEPALIVE_MS,
  stalledMs: config.AGENT_STALLED_MS,
  drainMs: config.AGENT_DRAIN_MS,
  historyDays: config.AGENT_HISTORY_DAYS,
})
