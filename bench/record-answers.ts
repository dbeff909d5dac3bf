import { writeFile } from 'node:fs/promises'
import { Agent, get, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { serialize } from 'node:v8'
import type { Load } from './load.ts'

/** An answer with its own headers. */
export type RecordedAnswer = { status: number; headers: Record<string, string>; body: Buffer }

/** Headers that node:http writes itself. */
const ofTheConnection = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding'])

/** Asks for each path once, and writes the answers for `bare-answers.ts`. */
export async function recordAnswers({ url, paths, headers }: Load, file: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const answers = new Map<string, RecordedAnswer>()
  for (const path of paths) {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    get(`${url}${path}`, { agent, headers }, resolve).on('error', reject)
    const answer = await promise
    const body = await buffer(answer)
    const status = answer.statusCode ?? 0
    if (status >= 400) throw new Error(`${path}: ${status} ${body}`)
    answers.set(path, { status, headers: endToEndHeaders(answer.rawHeaders), body })
  }
  agent.destroy()
  await writeFile(file, serialize(answers))
}

function endToEndHeaders(raw: readonly string[]): Record<string, string> {
  const pairs = Array.from({ length: raw.length / 2 }, (_, at) => [raw[2 * at] ?? '', raw[2 * at + 1] ?? ''] as const)
  return Object.fromEntries(pairs.filter(([name]) => !ofTheConnection.has(name.toLowerCase())))
}
