// The schemas of a collection as operations.
import Type from 'typebox'
import type { Operation } from '../../../api/http/operation.ts'
import { escapeHtml } from '../../../query/formats/html.ts'
import { jsonAnswer } from '../answers.ts'
import { definitions, htmlAnswer } from '../html/html-page.ts'
import { collectionAbove } from '../html/html-pages.ts'
import { addressOf, mediaTypes, type Root, selfLinks } from '../links.ts'
import { chooseForm, formParameter, isNamed } from '../negotiate.ts'
import { type OgcServices, operation, rootFor } from '../ogc-services.ts'
import { collectionPath } from './collection-document.ts'
import { type Collection, collectionAccess, findCollection } from './collections.ts'
import { propertySchema, queryableList, type SchemaKind, schemaKinds } from './property-schemas.ts'

const summaries: { readonly [kind in SchemaKind]: string } = {
  schema: 'The properties of the features of a collection',
  queryables: 'The properties that a filter may name',
  sortables: 'The properties that features can be sorted by',
}

export const schemaOperations: readonly Operation<OgcServices>[] = (Object.keys(schemaKinds) as SchemaKind[]).map(
  (kind) =>
    operation({
      id: `ogc.${kind}`,
      method: 'GET',
      path: `/ogc/collections/{id}/${kind}`,
      summary: summaries[kind],
      access: collectionAccess,
      query: Type.Object({ f: formParameter }),
      success: { status: 200, description: 'A JSON Schema', contentType: mediaTypes.schema, schema: Type.Unknown() },
      async handle(context, { params: { id = '' }, query }) {
        const { accept } = context.request.headers
        const collection = await findCollection(context, id)
        const root = rootFor(context)
        const form = chooseForm(query.f, accept)
        return form === 'html' ? schemaPage(root, collection, kind) : schemaAnswer(root, collection, kind, accept)
      },
    }),
)

const schemaPath = (id: string, kind: SchemaKind): string => `${collectionPath(id)}/${kind}`

/** Clients that accept JSON but not schemas get the schema as JSON, with a list that old ones read. */
function schemaAnswer(root: Root, { id, dataset }: Collection, kind: SchemaKind, accept: string | undefined) {
  const schema = propertySchema(kind, dataset, `${root.url}${schemaPath(id, kind)}`)
  const isPlain = isNamed(accept, mediaTypes.json) && !isNamed(accept, mediaTypes.schema)
  const plain = kind === 'queryables' ? { ...schema, queryables: queryableList(dataset) } : schema
  return jsonAnswer(isPlain ? plain : schema, isPlain ? mediaTypes.json : mediaTypes.schema)
}

function schemaPage(root: Root, { id, dataset }: Collection, kind: SchemaKind) {
  const { properties } = propertySchema(kind, dataset, '')
  const rows = Object.entries(properties).map(([name, { type, format, description }]) => {
    const words = [type, format, description].filter((word) => word !== undefined).map(String)
    return [name, escapeHtml(words.join(', '))] as const
  })
  const links = selfLinks((f) => addressOf(root, schemaPath(id, kind), { f }), 'html', mediaTypes.schema)
  const page = { root, title: schemaKinds[kind].title, above: collectionAbove(id, dataset.name) }
  return htmlAnswer(page, definitions(rows), links)
}
