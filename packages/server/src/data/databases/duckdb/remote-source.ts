import { ApiError } from '../../../kernel/errors.ts'
import type { FetchStream } from '../driver.ts'

type Answer = Awaited<ReturnType<FetchStream>>

/** The most files of one source. */
export const maxFiles = 100

/** Where copies of remote files come from. */
export type RemoteSource = {
  /** The names of its files. Throws an `upstream_failed` where asking again later can help. */
  list(signal: AbortSignal): Promise<readonly string[]>
  /** Copies that came from another address are fetched anew. */
  addressOf(file: string): string
  get(file: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Answer>
  /** Why a file was not sent, for whoever made the record. Reads or discards the body. */
  refusalOf(answer: Answer): Promise<string>
}

/** Files behind an https prefix, which has no listing: the record names them. */
export const httpsSource = (prefix: string, files: readonly string[], stream: FetchStream): RemoteSource => {
  const addressOf = (file: string): string => `${prefix}${encodeURIComponent(file)}`
  return {
    list: async () => files,
    addressOf,
    get: (file, headers, signal) => stream(addressOf(file), { headers, signal }),
    async refusalOf({ status, body }) {
      await discard(body)
      const hint =
        status >= 300 && status < 400 ? ' Redirects are not followed: give the address that they lead to.' : ''
      return `the server answered with status ${status}.${hint}`
    },
  }
}

export async function discard(body: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of body) break
}

/** At most so many bytes of a body. */
export async function* bounded(body: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new ApiError('too_large', `The answer is larger than ${maxBytes} bytes, the limit.`)
    yield chunk
  }
}
