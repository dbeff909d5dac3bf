/** What the server finds wrong with single fields of a body, by their paths in it. */

export interface Faults {
  /** Whether the error is not about fields. */
  readonly isEmpty: boolean
  /** Of a field such as `metadata/tags`, or of something in it. */
  at(path: string): string | undefined
  /** Of the fields of an object such as `settings`, by their names; of the body itself without a path. */
  in(path?: string): Readonly<Record<string, string>>
  /** Of a part such as `columns`, by their paths in it; of the part itself, the path is empty. */
  under(path: string): readonly { readonly path: string; readonly message: string }[]
  /** Whether there are some, and all are of these fields. */
  areOf(paths: readonly string[]): boolean
}

export function faultsOf(fields: readonly { path: string; message: string }[]): Faults {
  const isOf = (path: string, field: string): boolean => path === `body/${field}` || path.startsWith(`body/${field}/`)
  const under: Faults['under'] = (part) =>
    fields
      .filter(({ path }) => isOf(path, part))
      .map(({ path, message }) => ({ path: path.slice(`body/${part}/`.length), message }))
  return {
    under,
    isEmpty: fields.length === 0,
    at: (field) => fields.find(({ path }) => isOf(path, field))?.message,
    in(object) {
      const prefix = object === undefined ? 'body/' : `body/${object}/`
      const inside = fields.filter(({ path }) => path.startsWith(prefix))
      return Object.fromEntries(
        inside.map(({ path, message }) => [path.slice(prefix.length).split('/')[0] ?? '', message]),
      )
    },
    areOf: (names) => fields.length > 0 && fields.every(({ path }) => names.some((field) => isOf(path, field))),
  }
}
