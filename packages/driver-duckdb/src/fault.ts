/** `refused`: the SQL is not allowed, or names what is not there. `ended`: the process died; the next call starts a new one. */
export type FaultCode = 'refused' | 'failed' | 'timeout' | 'memory' | 'busy' | 'ended' | 'folder'

type Limit = { readonly of: 'queries' | 'applications'; readonly value: number }

type Options = ErrorOptions & { isBystander?: boolean; limit?: Limit }

/** Why a call has no answer, in words for whoever wrote the query; they hold no path of the server. */
export class DuckdbFault extends Error {
  override name = 'DuckdbFault'
  readonly code: FaultCode
  /** The process was ended on account of another query: this one may be tried again at once. */
  readonly isBystander: boolean
  /** Of `busy`: what there is too much of, and how many there may be. */
  readonly limit: Limit | undefined

  constructor(code: FaultCode, message: string, options: Options = {}) {
    super(message, options)
    this.code = code
    this.isBystander = options.isBystander ?? false
    this.limit = options.limit
  }
}
