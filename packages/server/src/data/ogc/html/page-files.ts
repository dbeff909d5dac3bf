// The files that the pages of /ogc load: a style sheet, a script and MapLibre.
import { readFile } from 'node:fs/promises'
import type { Answer } from '../../../api/http/operation.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { htmlHeaders } from './html-page.ts'

const urlOf = (name: string): string => new URL(`page/${name}`, import.meta.url).href
const library = (name: string): string => import.meta.resolve(`maplibre-gl/dist/${name}`)

const files = new Map<string, readonly [type: string, url: string]>([
  ['page.css', ['text/css', urlOf('page.css')]],
  ['map.js', ['text/javascript', urlOf('map.js')]],
  ['maplibre-gl.css', ['text/css', library('maplibre-gl.css')]],
  ['maplibre-gl.mjs', ['text/javascript', library('maplibre-gl.mjs')]],
  ['maplibre-gl-worker.mjs', ['text/javascript', library('maplibre-gl-worker.mjs')]],
])

/** Files by their name only, so that no path leads anywhere else. A worker obeys the policy of its own file. */
export async function pageFile(name: string): Promise<Answer> {
  const file = files.get(name)
  if (!file) throw new ApiError('not_found', 'The pages have no such file.')
  const [type, url] = file
  const headers = {
    'content-type': `${type}; charset=utf-8`,
    'content-security-policy': htmlHeaders['content-security-policy'],
    'cache-control': 'public, max-age=3600',
  }
  return { headers, body: await readFile(new URL(url)) }
}
