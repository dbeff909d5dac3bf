// The pages of /ogc: what its documents say, for people.

import type { Answer } from '../../../api/http/operation.ts'
import { escapeHtml } from '../../../query/formats/html.ts'
import { type collectionDocument, collectionPath } from '../collections/collection-document.ts'
import type { landingDocument } from '../landing.ts'
import { addressOf, type Link, mediaTypes, type Root } from '../links.ts'
import { tileMatrixSetId } from '../tiles/tile-matrix-set.ts'
import { anchor, definitions, htmlAnswer, linkList } from './html-page.ts'

type CollectionDocument = ReturnType<typeof collectionDocument>
type Linked = { readonly links: readonly Link[] }

const home = ['OGC API', ''] as const
const collectionsAbove = [home, ['Collections', '/collections']] as const
export const collectionAbove = (id: string, title: string) => [
  ...collectionsAbove,
  [title, collectionPath(id)] as const,
]

/** Without a key there is nothing to see, so the page asks for one. */
export function landingPage(root: Root, { title, description, links }: ReturnType<typeof landingDocument>): Answer {
  const body = `<p>${escapeHtml(description)}</p>\n${root.key ? '' : keyForm(root)}${linkList(pagesOnly(links))}`
  return htmlAnswer({ root, title }, body, links)
}

const keyForm = ({ url }: Root): string => `<form action="${escapeHtml(url)}/collections" method="get">
<label for="key">API key</label>
<input id="key" name="api-key" type="password" required autocomplete="off" spellcheck="false">
<input name="f" type="hidden" value="html">
<button type="submit">Show collections</button>
</form>\n`

const pagesOnly = (links: readonly Link[]): Link[] =>
  links.filter(({ rel, type }) => type === mediaTypes.html || rel === 'service-desc')

export const conformancePage = (root: Root, document: { conformsTo: readonly string[] } & Linked): Answer =>
  htmlAnswer(
    { root, title: 'Conformance', above: [home] },
    `<ul>${document.conformsTo.map((uri) => `<li><code>${escapeHtml(uri)}</code></li>`).join('')}</ul>\n`,
    document.links,
  )

type ApiDocument = { readonly paths?: unknown }
type ApiOperation = { summary: string; parameters: { $ref?: string; name?: string }[] }
type ApiEntry = Record<string, ApiOperation>

export function apiPage(root: Root, { paths }: ApiDocument): Answer {
  const rows = Object.entries(paths as Record<string, ApiEntry>).flatMap(([path, entry]) =>
    Object.entries(entry).map(([method, described]) => apiRow(method, path, described)),
  )
  const table = `<div class="wide"><table><thead><tr><th>Method</th><th>Path</th><th>What it is</th><th>Parameters</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>\n`
  const json: Link = { href: addressOf(root, '/api', { f: 'json' }), rel: 'alternate', type: mediaTypes.openApi }
  return htmlAnswer({ root, title: 'API definition', above: [home] }, table, [json])
}

function apiRow(method: string, path: string, { summary, parameters }: ApiOperation): string {
  const names = parameters.map(({ $ref, name }) => `<code>${escapeHtml($ref?.split('/').at(-1) ?? name ?? '')}</code>`)
  const cells = [
    `<code>${method.toUpperCase()}</code>`,
    `<code>${escapeHtml(path)}</code>`,
    escapeHtml(summary),
    names.join(', '),
  ]
  return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`
}

export function collectionsPage(
  root: Root,
  { collections, links }: { collections: readonly CollectionDocument[] } & Linked,
): Answer {
  const cards = collections.map(
    ({ id, title, description }) =>
      `<li>${anchor(addressOf(root, collectionPath(id), { f: 'html' }), title)} <small>${escapeHtml(id)}</small><p>${escapeHtml(description)}</p></li>`,
  )
  const next = links.find(({ rel }) => rel === 'next')
  const list =
    cards.length > 0 ? `<ul class="cards">${cards.join('')}</ul>` : '<p>The key gives access to no dataset.</p>'
  const body = `${list}\n${next ? anchor(next.href, 'Next page') : ''}`
  return htmlAnswer({ root, title: 'Collections', above: [home] }, body, links)
}

export function collectionPage(root: Root, document: CollectionDocument): Answer {
  const { id, title, description, extent, links, storageCrs } = document
  const bounds = extent?.spatial?.bbox[0]
  const rows: (readonly [string, string])[] = [
    ['Id', `<code>${escapeHtml(id)}</code>`],
    ...(bounds ? [['Extent', escapeHtml(bounds.map((degrees) => degrees.toFixed(4)).join(', '))] as const] : []),
    ...(storageCrs ? [['Stored in', escapeHtml(storageCrs)] as const] : []),
    ['Reference systems', document.crs.map(escapeHtml).join('<br>')],
  ]
  const body = `<p>${escapeHtml(description)}</p>\n${linkList(pagesOnly(links))}${definitions(rows)}`
  const tiles = addressOf(root, `${collectionPath(id)}/tiles/${tileMatrixSetId}`, { f: 'tilejson' })
  const map = bounds && { bounds, tiles }
  return htmlAnswer({ root, title, above: collectionsAbove, map }, body, links)
}

/** A document that is for programs, with its links for people. */
export function documentPage(root: Root, title: string, { links, ...rest }: Linked): Answer {
  const text = `<pre>${escapeHtml(JSON.stringify(rest, null, 2))}</pre>\n`
  return htmlAnswer({ root, title, above: [home] }, `${linkList(links)}${text}`, links)
}
