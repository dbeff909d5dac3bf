/** The last segment of a path, however its system separates them; empty where nothing is left that could be a name. */
export function lastSegment(path: string): string {
  const name = path.split(/[\\/]/).at(-1)?.trim() ?? ''
  return name === '.' || name === '..' ? '' : name
}
