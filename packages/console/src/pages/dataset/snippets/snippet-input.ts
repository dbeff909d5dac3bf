/** The input of code snippets: server, dataset, query and parameters; and the curl snippet, which others include. */
import type { Dataset, DatasetQuery } from '@graticule/client'
import { prettyJson } from '../../../components/code-editor/pretty-json.ts'
import { shellQuoted } from './snippet-literals.ts'

export interface SnippetInput {
  /** Without a trailing slash. */
  server: string
  dataset: Pick<Dataset, 'id' | 'name' | 'attributes'>
  query: DatasetQuery
  /** The dataset's own parameters. */
  parameters: Readonly<Record<string, string>>
}

export const placeholderKey = 'YOUR_KEY'

/** The geometry column in the query's result, if any. */
export function geometryIn({ dataset, query }: Pick<SnippetInput, 'dataset' | 'query'>): string | undefined {
  const geometries = dataset.attributes.filter(({ type }) => type === 'geometry').map(({ name }) => name)
  const selected = query.attributes ?? []
  if (query.group || selected.some((text) => text.includes('(') && !geometries.includes(text))) return undefined
  return selected.length === 0 ? geometries[0] : geometries.find((name) => selected.includes(name))
}

export const queryAddress = (
  { server, dataset, parameters }: SnippetInput,
  more: Record<string, string> = {},
): string => {
  const search = new URLSearchParams({ ...more, ...parameters }).toString()
  return `${server}/api/v1/datasets/${dataset.id}/query${search ? `?${search}` : ''}`
}

export function curlSnippet(input: SnippetInput, more: Record<string, string> = {}): string {
  return [
    `curl -sS ${shellQuoted(queryAddress(input, more))} \\`,
    `  -H 'x-api-key: ${placeholderKey}' \\`,
    `  -H 'content-type: application/json' \\`,
    `  -d ${shellQuoted(prettyJson(input.query))}`,
  ].join('\n')
}
