import { readFile } from 'node:fs/promises'
import Type from 'typebox'
import { ApiError } from '../../kernel/errors.ts'
import { type Answer, type Operation, operationUsing } from '../http/operation.ts'

/** Nothing comes from elsewhere, so the page works without a network; Swagger UI writes style attributes. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'"

type Asset = { type: string; read(): Promise<Buffer> }

const asset = (type: string, url: string): Asset => ({ type, read: () => readFile(new URL(url)) })
const pageFile = (type: string, name: string): Asset => asset(type, new URL(`page/${name}`, import.meta.url).href)

const page = pageFile('text/html', 'index.html')

const assets = new Map<string, Asset>([
  ['swagger-ui.css', asset('text/css', import.meta.resolve('swagger-ui-dist/swagger-ui.css'))],
  ['swagger-ui-bundle.js', asset('text/javascript', import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js'))],
  ['start.js', pageFile('text/javascript', 'start.js')],
  ['page.css', pageFile('text/css', 'page.css')],
  ['operations.css', pageFile('text/css', 'operations.css')],
])

export type ApiDocsServices = {
  /** The OpenAPI document, written when it is first needed: the same bytes each time. */
  openApiText(): Buffer
}
const operation = operationUsing<ApiDocsServices>()

/** The OpenAPI document and a page to read and try it. */
export const apiDocsOperations: readonly Operation<ApiDocsServices>[] = [
  operation({
    id: 'docs.openapi',
    method: 'GET',
    path: '/api/v1/openapi.json',
    summary: 'Get this document',
    access: 'public',
    success: { status: 200, description: 'The OpenAPI document', schema: Type.Object({}) },
    handle: async ({ services }) => ({
      ...file('application/json; charset=utf-8', services.openApiText()),
      isKept: true,
    }),
  }),
  operation({
    id: 'docs.page',
    method: 'GET',
    path: '/api/docs',
    summary: 'Read this document in a browser',
    access: 'public',
    success: { status: 200, description: 'A page', contentType: 'text/html', schema: Type.String() },
    async handle() {
      const { headers, body } = file('text/html; charset=utf-8', await page.read())
      return { headers: { ...headers, 'content-security-policy': policy }, body }
    },
  }),
  operation({
    id: 'docs.asset',
    method: 'GET',
    path: '/api/docs/{file}',
    summary: 'Get a part of that page',
    access: 'public',
    success: { status: 200, description: 'A script or a style sheet', contentType: 'text/*', schema: Type.String() },
    async handle(_, { params }) {
      const asset = assets.get(params.file)
      if (!asset) throw new ApiError('not_found', 'There is no such file of the API page.')
      return file(`${asset.type}; charset=utf-8`, await asset.read())
    },
  }),
]

const file = (type: string, body: Buffer): Answer => ({
  headers: { 'content-type': type, 'cache-control': 'public, max-age=600' },
  body,
})
