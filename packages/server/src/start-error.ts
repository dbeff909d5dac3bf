/** A reason not to start that whoever runs the server can mend: shown without a stack. */
export class StartError extends Error {
  override name = 'StartError'
}
