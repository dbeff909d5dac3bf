/** The file name of a path, with slashes or backslashes; empty if there is none. */
export function lastSegment(path: string): string {
  const name = path.split(/[\\/]/).at(-1)?.trim() ?? ''
  return name === '.' || name === '..' ? '' : name
}
