declare module 'pg-cursor' {
  import type { FieldDef, Submittable } from 'pg'

  type Cell = string | null

  export default class Cursor implements Submittable {
    constructor(text: string, values: Cell[], config: { rowMode: 'array' })
    submit: Submittable['submit']
    read(count: number, done: (error: Error | null, rows: Cell[][], result: { fields: FieldDef[] }) => void): void
    close(): Promise<void>
  }
}
