// Features as pages: a table with a map, and one feature.

import type { Answer } from '../../../api/http/operation.ts'
import type { Cell, OutputColumn, RowFormat } from '../../../query/formats/cell.ts'
import { escapeHtml } from '../../../query/formats/html.ts'
import type { CachedDataset } from '../../datasets/dataset-cache.ts'
import { collectionPath } from '../collections/collection-document.ts'
import { geometryOf, keyOf } from '../collections/collections.ts'
import type { FeatureDocument } from '../items/feature-format.ts'
import { addressOf, type Link, type Root } from '../links.ts'
import { anchor, definitions, htmlAnswer, htmlHeaders, pageEnd, pageStart } from './html-page.ts'
import { collectionAbove } from './html-pages.ts'

/** Longer values are cut, because a table is for looking over. */
const longest = 200

type HtmlContext = { readonly root: Root; readonly id: string; readonly cached: CachedDataset }

/** A page of features as a table, written row by row like every other form. */
export function itemsPage(
  { root, id, cached: { dataset } }: HtmlContext,
  columns: readonly OutputColumn[],
  { numberMatched, links }: { numberMatched: number | undefined; links(): readonly Link[] },
): RowFormat {
  const idName = keyOf(dataset)?.name
  const features = links().find(({ rel }) => rel === 'alternate')?.href
  const map = geometryOf(dataset) && features ? { features } : undefined
  const count = numberMatched === undefined ? '' : `<p>${numberMatched} features</p>\n`
  const head = columns.map(({ name }) => `<th scope="col">${escapeHtml(name)}</th>`).join('')
  const page = { root, title: 'Items', above: collectionAbove(id, dataset.name), map }
  return {
    contentType: htmlHeaders['content-type'],
    begin: `${pageStart(page)}${count}<div class="wide"><table><thead><tr>${head}</tr></thead><tbody>`,
    separator: '\n',
    row: (cells) =>
      `<tr>${columns.map((column, index) => cellHtml({ root, id, idName }, column, cells[index])).join('')}</tr>`,
    get end() {
      const next = links().find(({ rel }) => rel === 'next')
      const more = next ? `<p>${anchor(next.href, 'Next page')}</p>\n` : ''
      return `</tbody></table></div>\n${more}${pageEnd(features)}`
    },
  }
}

type Identified = { readonly root: Root; readonly id: string; readonly idName: string | undefined }

function cellHtml({ root, id, idName }: Identified, { name, type }: OutputColumn, cell: Cell | undefined): string {
  if (cell === null || cell === undefined) return '<td></td>'
  if (type === 'geometry') return `<td>${escapeHtml(/"type":"(\w+)"/.exec(cell)?.[1] ?? '')}</td>`
  if (name !== idName) return `<td>${escapeHtml(shortened(cell))}</td>`
  const address = addressOf(root, `${collectionPath(id)}/items/${encodeURIComponent(cell)}`, { f: 'html' })
  return `<td>${anchor(address, cell)}</td>`
}

const shortened = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}…` : text)

/** One feature: its properties and its place. */
export function featurePage(
  { root, id, cached }: HtmlContext,
  featureId: string,
  { text, links, headers }: FeatureDocument,
): Answer {
  const { properties, geometry } = JSON.parse(text) as { properties: Record<string, unknown>; geometry: unknown }
  const rows = Object.entries(properties).map(([name, value]) => [name, escapeHtml(valueText(value))] as const)
  const features = links.find(({ rel }) => rel === 'alternate')?.href
  const above = [...collectionAbove(id, cached.dataset.name), ['Items', `${collectionPath(id)}/items`] as const]
  const map = geometry && features ? { features } : undefined
  const answer = htmlAnswer({ root, title: featureId, above, map }, definitions(rows), links)
  // Weak, because the page is another form of what the tag is of.
  const tag = headers.etag && { etag: `W/${headers.etag}` }
  return { ...answer, headers: { ...headers, ...tag, ...answer.headers } }
}

function valueText(value: unknown): string {
  if (value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
