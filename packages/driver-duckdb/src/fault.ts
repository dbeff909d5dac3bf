/** `refused`: the SQL is not allowed, or names what is not there. `ended`: the process died; the next call starts a new one. */
export type FaultCode = 'refused' | 'failed' | 'timeout' | 'memory' | 'busy' | 'ended' | 'folder'

/** Why a call has no answer, in words for whoever wrote the query; they hold no path of the server. */
export class DuckdbFault extends Error {
  override name = 'DuckdbFault'
  readonly code: FaultCode
  /** The process was ended on account of another query: this one may be tried again at once. */
  readonly isBystander: boolean

  constructor(code: FaultCode, message: string, options: ErrorOptions & { isBystander?: boolean } = {}) {
    super(message, options)
    this.code = code
    this.isBystander = options.isBystander ?? false
  }
}
