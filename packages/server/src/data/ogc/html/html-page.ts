// The frame of every page below /ogc. Nothing in it is inline, so that no value of a dataset can become code or style.

import type { Answer } from '../../../api/http/operation.ts'
import { pagePolicy } from '../../../api/http/page-policy.ts'
import { escapeHtml } from '../../../query/formats/html.ts'
import { varyingHeaders } from '../answers.ts'
import { addressOf, type Link, type Root } from '../links.ts'

export const htmlHeaders = {
  ...varyingHeaders,
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': pagePolicy({ formAction: "'self'", frameAncestors: "'none'" }),
}

/** A map of the features at an address, or of the tiles of a TileJSON within bounds. */
export type PageMap = { readonly features?: string; readonly tiles?: string; readonly bounds?: readonly number[] }

export type Page = {
  readonly root: Root
  readonly title: string
  /** The pages above, with their paths. */
  readonly above?: readonly (readonly [title: string, path: string])[]
  readonly map?: PageMap | undefined
}

export const anchor = (href: string, text: string): string => `<a href="${escapeHtml(href)}">${escapeHtml(text)}</a>`

/** Everything before the content of a page. */
export function pageStart({ root, title, above = [], map }: Page): string {
  const asset = (name: string) => escapeHtml(`${root.url}/assets/${name}`)
  const crumbs = above.map(([name, path]) => `${anchor(addressOf(root, path, { f: 'html' }), name)} / `).join('')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} – Graticule</title>
<link rel="icon" href="data:,">
${map ? `<link rel="stylesheet" href="${asset('maplibre-gl.css')}">\n<script type="module" src="${asset('map.js')}"></script>\n` : ''}<link rel="stylesheet" href="${asset('page.css')}">
</head>
<body>
<nav aria-label="Breadcrumb">${crumbs}<span>${escapeHtml(title)}</span></nav>
<main>
<h1>${escapeHtml(title)}</h1>
${map ? mapElement(map) : ''}`
}

function mapElement({ features, tiles, bounds }: PageMap): string {
  const data = Object.entries({ features, tiles, bounds: bounds?.join(',') })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` data-${name}="${escapeHtml(value ?? '')}"`)
  return `<div id="map" role="region" aria-label="Map"${data.join('')}></div>\n`
}

/** Everything after it. `json` is the same resource for programs. */
export const pageEnd = (json: string | undefined): string =>
  `</main>\n<footer>${json ? anchor(json, 'This page as JSON') : ''} <a href="https://ogcapi.ogc.org/">OGC API</a></footer>\n</body>\n</html>\n`

/** A whole page; its body is HTML. */
export function htmlAnswer(page: Page, body: string, links: readonly Link[] = []): Answer {
  const json = links.find(({ rel, type }) => rel === 'alternate' && type?.includes('json'))?.href
  return { headers: htmlHeaders, body: Buffer.from(`${pageStart(page)}${body}${pageEnd(json)}`) }
}

/** Links as a list, without those of the page itself. */
export const linkList = (links: readonly Link[]): string =>
  `<ul>${links
    .filter(({ rel, templated }) => rel !== 'self' && rel !== 'alternate' && !templated)
    .map(({ href, title, rel }) => `<li>${anchor(href, title ?? rel)}</li>`)
    .join('')}</ul>\n`

/** Names and values in two columns; the values are HTML. */
export const definitions = (rows: readonly (readonly [name: string, html: string])[]): string =>
  `<table class="definitions"><tbody>${rows
    .map(([name, html]) => `<tr><th scope="row">${escapeHtml(name)}</th><td>${html}</td></tr>`)
    .join('')}</tbody></table>\n`
