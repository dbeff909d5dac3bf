/** A geometry cannot be read. The codes are those of an upload's `error`. */
export class GeometryFault extends Error {
  readonly code: 'invalid_file' | 'feature_too_large'

  constructor(code: GeometryFault['code'], message: string) {
    super(message)
    this.name = 'GeometryFault'
    this.code = code
  }
}
