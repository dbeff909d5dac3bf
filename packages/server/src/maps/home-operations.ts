import { readFile } from 'node:fs/promises'
import Type from 'typebox'
import { ApiError } from '../errors.ts'
import { type Answer, type Operation, operation } from '../http/operation.ts'

/** Nothing comes from elsewhere and nothing is written inline, so neither a dataset nor a key can bring in code. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

type Part = { type: string; read(): Promise<Buffer> }

const file = (type: string, url: URL | string): Part => ({ type, read: () => readFile(new URL(url)) })
const own = (type: string, name: string): Part => file(type, new URL(`home/${name}`, import.meta.url))
/** Resolved when it is asked for: the library is large, and many servers are never looked at. */
const library = (type: string, name: string): Part => ({
  type,
  read: () => readFile(new URL(import.meta.resolve(`maplibre-gl/dist/${name}`))),
})
const style = (key: 'light' | 'dark'): Part => ({ type: 'application/json', read: () => readBaseStyle(key) })

const page = own('text/html', 'index.html')
const parts = new Map<string, Part>([
  ['home.css', own('text/css', 'home.css')],
  ['start.js', own('text/javascript', 'start.js')],
  ['maplibre-gl.css', library('text/css', 'maplibre-gl.css')],
  ['maplibre-gl.mjs', library('text/javascript', 'maplibre-gl.mjs')],
  ['maplibre-gl-worker.mjs', library('text/javascript', 'maplibre-gl-worker.mjs')],
  ['light.json', style('light')],
  ['dark.json', style('dark')],
])

async function readBaseStyle(key: string): Promise<Buffer> {
  const { baseStyles } = await import('./base-styles.ts')
  return Buffer.from(JSON.stringify(baseStyles().find((base) => base.key === key)?.style))
}

/** The first page: the base map, and the datasets that a pasted key may see. */
export function homeOperations(): Operation[] {
  return [
    operation({
      id: 'home.page',
      method: 'GET',
      path: '/',
      summary: 'See the datasets of a key on a map, in a browser',
      access: 'public',
      success: { status: 200, description: 'A page', contentType: 'text/html', schema: Type.String() },
      handle: async () => answer(page, 'no-cache'),
    }),
    operation({
      id: 'home.part',
      method: 'GET',
      path: '/home/{file}',
      summary: 'Get a part of that page',
      access: 'public',
      success: {
        status: 200,
        description: 'A script, style sheet or style',
        contentType: '*/*',
        schema: Type.String(),
      },
      async handle(_, { params }) {
        const found = parts.get(params.file ?? '')
        if (!found) throw new ApiError('not_found', 'There is no such file of the first page.')
        return answer(found, 'public, max-age=600')
      },
    }),
  ]
}

const answer = async ({ type, read }: Part, caching: string): Promise<Answer> => ({
  headers: { 'content-type': `${type}; charset=utf-8`, 'cache-control': caching, 'content-security-policy': policy },
  body: await read(),
})
