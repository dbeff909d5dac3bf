import { ApiError } from '../../kernel/errors.ts'

/** Where a part of an operation's input came from: its path there, and its path in the arguments of the tool. */
export type ArgumentPath = readonly [inInput: string, inArguments: string]

/**
 * An error of an operation as the caller of a tool understands it. The operation names places in an input that the tool
 * made (`where.$and.0.height`); whoever called the tool wrote `arguments/where/height`.
 */
export function inArguments(error: unknown, origins: readonly ArgumentPath[]): unknown {
  if (!(error instanceof ApiError) || error.faults.length === 0) return error
  const faults = error.faults.map((fault) => ({ ...fault, path: argumentPath(fault.path, origins) }))
  const [{ path, message } = { path: '', message: error.message }] = faults
  const { cause, headers, extensions } = error
  return new ApiError(error.code, path ? `${path}: ${message}` : message, { cause, faults, headers, extensions })
}

function argumentPath(path: string, origins: readonly ArgumentPath[]): string {
  const slashed = /^(body|query)\//.test(path) ? (text: string) => text : (text: string) => text.replaceAll('.', '/')
  const inInput = slashed(path).replace(/^body\//, '')
  for (const [place, argument] of origins) {
    const start = slashed(place)
    if (inInput === start || inInput.startsWith(`${start}/`))
      return `arguments/${argument}${inInput.slice(start.length)}`
  }
  // What is left are parameters of the dataset, or parts of the dataset itself.
  const [, parameter] = /^(?:query\/)?(?!source$|srid$)(\w+)$/.exec(inInput) ?? []
  return parameter === undefined ? path : `arguments/parameters/${parameter}`
}
