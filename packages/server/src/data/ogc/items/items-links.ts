// The links of a page of features: itself, its other form, the next page, the collection.
import { keyParameter } from '../../../api/access/credentials.ts'
import { queryOf } from '../../../api/http/input/query-string.ts'
import { collectionPath } from '../collections/collection-document.ts'
import { addressOf, type Link, mediaTypes, type Root, selfLinks } from '../links.ts'
import type { Form } from '../negotiate.ts'
import { type CollectionContext, rootFor } from '../ogc-services.ts'

export type ItemsLinks = {
  readonly root: Root
  /** With the parameters of the next page, if there is one. */
  all(next: Readonly<Record<string, string>> | undefined): Link[]
}

/** `id` is the collection's, as the request wrote it. */
export function itemsLinks(context: CollectionContext, id: string, form: Form): ItemsLinks {
  const root = rootFor(context)
  const current = requestParameters(context.request.raw.url ?? '')
  const path = `${collectionPath(id)}/items`
  const address = (parameters: Readonly<Record<string, string | undefined>>) =>
    addressOf(root, path, { ...current, ...parameters })
  return {
    root,
    all: (next) => [
      ...selfLinks((f) => address({ f }), form, mediaTypes.geojson),
      ...(next ? [nextLink(address({ cursor: undefined, offset: undefined, f: form, ...next }), form)] : []),
      collectionLink(root, id),
    ],
  }
}

const nextLink = (href: string, form: Form): Link => ({
  href,
  rel: 'next',
  type: form === 'json' ? mediaTypes.geojson : mediaTypes.html,
  title: 'The next page',
})

export const collectionLink = (root: Root, id: string): Link => ({
  href: addressOf(root, collectionPath(id), { f: 'json' }),
  rel: 'collection',
  type: mediaTypes.json,
  title: 'The collection',
})

/** The parameters of the request's address but its key, which every link gets. */
export const requestParameters = (url: string): Record<string, string> =>
  Object.fromEntries([...new URLSearchParams(queryOf(url))].filter(([name]) => name !== keyParameter))
