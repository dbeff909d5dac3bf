// biome-ignore-all lint/performance/noBarrelFile: the door for the platform, which runs bridges without a socket
export { anthropic } from './bridges/anthropic.ts'
export { http } from './bridges/http.ts'
export { ollama } from './bridges/ollama.ts'
export { openAiCompatible } from './bridges/openai-compatible.ts'
export type { Fetch } from './bridges/upstream.ts'
export { Reject } from './errors.ts'
export type { Handler } from './invocation.ts'
export { type Running, runInvocation } from './run-invocation.ts'
