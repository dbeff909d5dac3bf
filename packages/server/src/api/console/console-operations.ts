/** The web console: a page and its files, and nothing that the API does not have. */
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { ApiError } from '../../kernel/errors.ts'
import { type Answer, type Operation, operationUsing } from '../http/operation.ts'
import { pagePolicy } from '../http/page-policy.ts'
import { etagOf, isUnchanged } from '../resource/revision.ts'
import { type ConsoleFile, type ConsoleFiles, consoleFile } from './console-files.ts'
import { type SharedMap, type SharedMaps, sharedPage } from './shared-page.ts'

/** Scripts carry it too: a worker obeys the policy of its own file. */
const policy = pagePolicy({ formAction: "'none'", frameAncestors: "'none'" })
/** Maps that were shared may stand in pages of others. */
const sharePolicy = pagePolicy({ formAction: "'none'", frameAncestors: '*' })

const longest = 'public, max-age=31536000, immutable'
/** The files' names change with their content, the page's does not. */
const cachingOf = (path: string): string => (path.startsWith('assets/') ? longest : 'no-cache')

/** Of the console's addresses. Each depth is a page that is kept. */
const deepest = 5

const page = { status: 200, description: 'A page', contentType: 'text/html', schema: Type.String() }

export type ConsoleServices = {
  readonly consoleFiles: ConsoleFiles
  /** The styles that come with the server, for whoever may read no style: the addresses in them are relative to the server. */
  readBaseStyle(theme: string): Promise<Buffer | undefined>
  readonly sharedMaps: SharedMaps
  baseUrl(request: FastifyRequest): string
}
const operation = operationUsing<ConsoleServices>()

export const consoleOperations: readonly Operation<ConsoleServices>[] = [
  operation({
    id: 'console.start',
    method: 'GET',
    path: '/',
    summary: 'Go to the console',
    access: 'public',
    success: { status: 302, description: 'To the console', headers: ['Location'] },
    handle: async () => redirection(),
  }),
  operation({
    id: 'console.home',
    method: 'GET',
    path: '/console/',
    summary: 'Use the API in a browser: the first page',
    access: 'public',
    ownParameters: true,
    success: page,
    // The router takes both spellings for one; addresses in the page are relative to the one with a slash.
    handle: async ({ request, services }) =>
      /^[^?]*\/($|\?)/.test(request.raw.url ?? '')
        ? answer(request, await services.consoleFiles.page(0), 'no-cache')
        : redirection(),
  }),
  operation({
    id: 'console.page',
    method: 'GET',
    path: '/console/{path}',
    isRestOfPath: true,
    ownParameters: true,
    summary: 'Use the API in a browser',
    description:
      'The web console: every address below it is a page. Its files are at `assets/`, and the picture of a map that is shared at `share/{id}.jpg`.',
    access: 'public',
    success: page,
    async handle({ request, services }, { params }) {
      const { path } = params
      const files = services.consoleFiles
      const file = await files.file(path)
      if (file) return answer(request, file, cachingOf(path))
      const style = await services.readBaseStyle(/^base\/(\w+)\.json$/.exec(path)?.[1] ?? '')
      if (style) return answer(request, consoleFile('application/json', style), 'public, max-age=600')
      const picture = await pictureAt(path, services)
      if (picture) return answer(request, consoleFile('image/jpeg', picture), 'public, max-age=600')
      if (path.startsWith('assets/'))
        throw new ApiError('not_found', 'The console has no such file. Load the page again.')
      const depth = path.split('/').length - 1
      if (depth > deepest) throw new ApiError('not_found', 'The console has no such page.')
      const shown = await files.page(depth)
      const shared = await sharedMapAt(path, services)
      if (!shared) return answer(request, shown, 'no-cache', path.startsWith('share/'))
      const described = sharedPage(shown.bytes, shared, `${services.baseUrl(request)}/console/${path}`)
      return answer(request, consoleFile(shown.contentType, described), 'no-cache', true)
    },
  }),
]

/** Of a map that is shared; a path of no picture, and a map that is not, have none. */
async function pictureAt(path: string, { sharedMaps }: ConsoleServices): Promise<Buffer | undefined> {
  const [, id] = /^share\/([\w-]+)\.jpg$/.exec(path) ?? []
  if (id === undefined) return undefined
  const picture = await sharedMaps.picture(id)
  if (!picture) throw new ApiError('not_found', 'There is no such picture, or its map is no longer shared.')
  return picture
}

const sharedMapAt = async (path: string, { sharedMaps }: ConsoleServices): Promise<SharedMap | undefined> =>
  path.startsWith('share/') ? sharedMaps.find(path.slice('share/'.length)) : undefined

/** Relative, for proxies that add a path. */
const redirection = (): Answer => ({ status: 302, headers: { location: 'console/', 'cache-control': 'no-cache' } })

function answer(
  request: FastifyRequest,
  { contentType, bytes, revision }: ConsoleFile,
  caching: string,
  isShared = false,
): Answer {
  const headers: Record<string, string> = {
    'cache-control': caching,
    'content-security-policy': isShared ? sharePolicy : policy,
    etag: etagOf(revision),
  }
  if (isUnchanged(request, revision)) return { status: 304, headers }
  return { headers: { ...headers, 'content-type': contentType }, body: bytes, isKept: true }
}
