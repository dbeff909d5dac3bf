export type Schema = {
  readonly $ref?: string
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly readOnly?: boolean
  readonly format?: string | undefined
  readonly pattern?: string | undefined
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
}
export type MediaTypes = Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>
export type OperationEntry = {
  readonly operationId: string
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[]
  readonly requestBody?: { readonly content: MediaTypes }
  readonly responses: Readonly<Record<string, { readonly content?: MediaTypes }>>
}
/** As much of OpenAPI as our own document uses. */
export type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationEntry>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}
/** One operation and where it is. */
export type DocumentedOperation = { readonly path: string; readonly method: string; readonly entry: OperationEntry }
/** The fields of a record. */
export type SchemaFields = Readonly<Record<string, Schema>>

/** The document, with each body where it is sent instead of among the components. */
export function readDocument(text: string): Document {
  const document = JSON.parse(text) as Document
  const contents = operationsOf(document).flatMap(({ entry }) => Object.values(entry.requestBody?.content ?? {}))
  for (const content of contents) Object.assign(content, { schema: resolved(document, content.schema) })
  return document
}

export function operationsOf({ paths }: Document): DocumentedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, entry]) => ({ path, method: method.toUpperCase(), entry })),
  )
}

/** The last word of an address before an id: `users` of `/api/v1/auth/users/{id}`. */
export const resourceOf = (path: string): string => path.split('/{', 1)[0]?.split('/').at(-1) ?? ''

/** The operation that the document has at this address; the one with the fewest parameters comes first. */
export function operationAt({ paths }: Document, method: string, url: string): OperationEntry | undefined {
  const segmentsOf = (path: string) => path.replace(/(?<=.)\/$/, '').split('/')
  const segments = segmentsOf(new URL(`http://localhost${url}`).pathname)
  const fitting = Object.keys(paths).filter((path) => {
    const template = segmentsOf(path)
    return (
      template.length === segments.length && template.every((part, at) => part === segments[at] || part.startsWith('{'))
    )
  })
  const [path = ''] = fitting.sort((one, other) => one.split('{').length - other.split('{').length)
  return paths[path]?.[method === 'HEAD' ? 'get' : method.toLowerCase()]
}

/** The fields of the records that an operation answers with. */
export function recordOf(document: Document, { responses }: OperationEntry): SchemaFields {
  const [success] = Object.entries(responses).filter(([status]) => status.startsWith('2'))
  const schema = success?.[1].content?.['application/json']?.schema ?? {}
  const branches = [schema, ...(schema.anyOf ?? [])].flatMap((branch) => [branch, branch.items ?? {}])
  return Object.assign({}, ...branches.map((branch) => resolved(document, branch).properties ?? {}))
}

function resolved(document: Document, schema: Schema): Schema {
  return schema.$ref ? (document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema
}
