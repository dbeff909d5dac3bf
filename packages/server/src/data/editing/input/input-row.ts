// A row as it is sent, before it is checked against its table.
export type InputCell = { readonly name: string; readonly value: unknown; readonly path: string }

export type InputRow = {
  /** Where it is in the body, for messages. */
  readonly path: string
  readonly cells: readonly InputCell[]
  readonly isFeature: boolean
  /** Values are texts, which JSON and lists have to be read from. */
  readonly isText: boolean
}
