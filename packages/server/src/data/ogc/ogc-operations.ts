/** OGC API at `/ogc`: the datasets as collections of features, a second face of the same queries. */
import Type from 'typebox'
import { type Operation, queryWeight } from '../../api/http/operation.ts'
import { jsonAnswer, linkedDocument } from './answers.ts'
import { apiDocument } from './api-document.ts'
import { collectionDocument, withExtents } from './collections/collection-document.ts'
import { collectionAccess, findCollection, listCollections, openCollection } from './collections/collections.ts'
import { schemaOperations } from './collections/schema-operations.ts'
import { conformanceClasses } from './conformance.ts'
import { apiPage, collectionPage, collectionsPage, conformancePage, landingPage } from './html/html-pages.ts'
import { pageFile } from './html/page-files.ts'
import { editOperations } from './items/edit-operations.ts'
import { answerItem } from './items/item-answer.ts'
import { answerItems } from './items/items-answer.ts'
import { itemSchema, itemsSchema } from './items/items-query.ts'
import { landingDocument } from './landing.ts'
import { addressOf, type Link, mediaTypes, selfLinks } from './links.ts'
import { formParameter, formQuery } from './negotiate.ts'
import { type CollectionContext, formFor, type OgcServices, operation, rootFor } from './ogc-services.ts'
import { tileOperations } from './tiles/tile-operations.ts'

const listLimits = { default: 100, maximum: 1_000 }
const listQuery = Type.Object({
  f: formParameter,
  limit: Type.Optional(Type.Integer({ minimum: 1, description: 'The size of the page' })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000, description: 'Skips so many collections' })),
})

const features = { ...linkedDocument, contentType: mediaTypes.geojson, headers: ['Link', 'Content-Crs'] }
const queryFailures = [413, 429, 502, 504]

export const ogcOperations: readonly Operation<OgcServices>[] = [
  operation({
    id: 'ogc.landing',
    method: 'GET',
    path: '/ogc',
    summary: 'The landing page',
    access: 'public',
    query: formQuery,
    success: linkedDocument,
    handle: (context, { query }) => {
      const form = formFor(context, query.f)
      const root = rootFor(context)
      const document = landingDocument(root, form)
      return form === 'html' ? landingPage(root, document) : jsonAnswer(document)
    },
  }),
  operation({
    id: 'ogc.conformance',
    method: 'GET',
    path: '/ogc/conformance',
    summary: 'The conformance classes that hold',
    access: 'public',
    query: formQuery,
    success: linkedDocument,
    handle: (context, { query }) => {
      const form = formFor(context, query.f)
      const root = rootFor(context)
      const links = selfLinks((f) => addressOf(root, '/conformance', { f }), form)
      const document = { conformsTo: conformanceClasses, links }
      return form === 'html' ? conformancePage(root, document) : jsonAnswer(document)
    },
  }),
  operation({
    id: 'ogc.api',
    method: 'GET',
    path: '/ogc/api',
    summary: 'The API definition: this document',
    access: 'public',
    query: formQuery,
    success: { ...linkedDocument, contentType: mediaTypes.openApi },
    handle: (context, { query }) => {
      const root = rootFor(context)
      const document = apiDocument(ogcOperations, root.url)
      return formFor(context, query.f) === 'html' ? apiPage(root, document) : jsonAnswer(document, mediaTypes.openApi)
    },
  }),
  operation({
    id: 'ogc.asset',
    method: 'GET',
    path: '/ogc/assets/{file}',
    summary: 'A part of the pages',
    access: 'public',
    success: { status: 200, description: 'A script or a style sheet', contentType: 'text/*', schema: Type.String() },
    handle: (_, { params: { file } }) => pageFile(file),
  }),
  operation({
    id: 'ogc.collections',
    method: 'GET',
    path: '/ogc/collections',
    summary: 'The collections',
    access: { class: 'datasets', level: 'execute' },
    query: listQuery,
    success: linkedDocument,
    handle: (context, { query }) => answerCollections(context, query),
  }),
  operation({
    id: 'ogc.collection',
    method: 'GET',
    path: '/ogc/collections/{id}',
    summary: 'A collection',
    access: collectionAccess,
    query: formQuery,
    success: linkedDocument,
    async handle(context, { params: { id }, query }) {
      const form = formFor(context, query.f)
      const root = rootFor(context)
      const [described] = await withExtents(context, [await findCollection(context, id)])
      const document = collectionDocument(root, described as NonNullable<typeof described>, form)
      return form === 'html' ? collectionPage(root, document) : jsonAnswer(document)
    },
  }),
  ...schemaOperations,
  operation({
    id: 'ogc.items',
    weight: queryWeight,
    method: 'GET',
    path: '/ogc/collections/{id}/items',
    summary: 'Features of a collection',
    description: 'Any property that can be compared is a parameter, too: `name=value`.',
    access: collectionAccess,
    query: itemsSchema,
    ownParameters: true,
    success: { ...features, headers: [...features.headers, 'OGC-NumberMatched', 'OGC-NumberReturned'] },
    failures: queryFailures,
    async handle(context, { params: { id }, query }) {
      const form = formFor(context, query.f)
      return answerItems(context, { id, cached: await openCollection(context, id), parameters: query, form })
    },
  }),
  operation({
    id: 'ogc.item',
    method: 'GET',
    path: '/ogc/collections/{id}/items/{featureId}',
    summary: 'A feature',
    access: collectionAccess,
    query: itemSchema,
    ownParameters: true,
    success: { ...features, headers: [...features.headers, 'ETag'] },
    failures: queryFailures,
    async handle(context, { params: { id, featureId }, query }) {
      const cached = await openCollection(context, id)
      return answerItem(context, { id, featureId, cached, parameters: query, form: formFor(context, query.f) })
    },
  }),
  ...editOperations,
  ...tileOperations,
]

type ListParameters = { readonly f?: 'json' | 'html'; readonly limit?: number; readonly offset?: number }

async function answerCollections(context: CollectionContext, parameters: ListParameters) {
  const root = rootFor(context)
  const limit = Math.min(parameters.limit ?? listLimits.default, listLimits.maximum)
  const offset = parameters.offset ?? 0
  const { collections, hasMore } = await listCollections(context, { limit, offset })
  const described = await withExtents(context, collections)
  const next: Link = {
    href: addressOf(root, '/collections', { f: parameters.f, limit, offset: offset + limit }),
    rel: 'next',
    type: mediaTypes.json,
  }
  const form = formFor(context, parameters.f)
  const document = {
    links: [
      ...selfLinks((f) => addressOf(root, '/collections', { ...parameters, f }), form),
      ...(hasMore ? [next] : []),
    ],
    collections: described.map((collection) => collectionDocument(root, collection)),
  }
  return form === 'html' ? collectionsPage(root, document) : jsonAnswer(document)
}
