/** The draft of a dataset's settings, and the patch of its changes. */
import type { Dataset, DatasetPatch, JsonObject } from '@graticule/client'
import { jsonFaults } from '../../../components/code-editor/json-tree.ts'
import { prettyJson } from '../../../components/code-editor/pretty-json.ts'
import { isEqual, mergePatchOf } from './merge-patch.ts'

export interface Header {
  name: string
  value: string
}

export interface SettingsDraft {
  name: string
  description: string
  owner: string
  source: string
  databaseId: string
  /** The whole metadata as JSON, including tags and attribution. */
  metadata: string
  /** Stored headers are write-only: they are kept, replaced or removed. */
  headers: 'keep' | 'remove' | readonly Header[]
}

export const metadataLimit = 64 * 1024

export const draftOf = (dataset: Dataset): SettingsDraft => ({
  name: dataset.name,
  description: dataset.description,
  owner: dataset.ownerId === null ? '' : String(dataset.ownerId),
  source: dataset.source,
  databaseId: dataset.databaseId,
  metadata: metadataText(dataset.metadata),
  headers: 'keep',
})

/** One key per line. */
function metadataText(metadata: JsonObject): string {
  const parts = Object.entries(metadata).map(([name, value]) => `  ${JSON.stringify(name)}: ${prettyJson(value, 2)}`)
  return parts.length > 0 ? `{\n${parts.join(',\n')}\n}` : '{}'
}

/** Undefined if the text is not a JSON object. */
export function readMetadata(text: string): JsonObject | undefined {
  if (text.trim() === '') return {}
  if (jsonFaults(text).length > 0) return undefined
  const value = JSON.parse(text) as unknown
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
}

/** Sets a key in the text; undefined removes it. */
export function withKey(text: string, key: string, value: unknown): string {
  const { [key]: _, ...rest } = readMetadata(text) ?? {}
  return metadataText(value === undefined ? rest : { ...rest, [key]: value })
}

export const tagsOf = (metadata: JsonObject | undefined): string[] =>
  Array.isArray(metadata?.tags) ? metadata.tags.filter((tag) => typeof tag === 'string') : []

/** The patch of the changes. Throws if the metadata is not valid JSON. */
export function patchOf(read: Dataset, draft: SettingsDraft): DatasetPatch {
  const metadata = readMetadata(draft.metadata)
  if (!metadata) throw new Error('The metadata are not a JSON object yet: see the mark in the editor.')
  const before = draftOf(read)
  const { owner: _, metadata: __, headers: ___, ...plain } = draft
  const changed = Object.entries(plain).filter(([name, value]) => value !== before[name as keyof typeof plain])
  return {
    ...Object.fromEntries(changed),
    ...(draft.owner === before.owner ? {} : { ownerId: draft.owner === '' ? null : draft.owner }),
    ...(isEqual(read.metadata, metadata) ? {} : { metadata: mergePatchOf(read.metadata, metadata) }),
    ...(draft.headers === 'keep' ? {} : { secrets: secretsOf(draft.headers) }),
  }
}

const secretsOf = (headers: 'remove' | readonly Header[]) =>
  headers === 'remove'
    ? null
    : { headers: Object.fromEntries(headers.filter(({ name }) => name).map(({ name, value }) => [name, value])) }

export function isChanged(read: Dataset, draft: SettingsDraft): boolean {
  if (!readMetadata(draft.metadata)) return true
  return Object.keys(patchOf(read, draft)).length > 0
}

/** The fields in which the other version differs from the draft. */
export function differences(
  { headers: _, ...mine }: SettingsDraft,
  theirs: Dataset,
): { field: string; mine: string; theirs: string }[] {
  const other = draftOf(theirs)
  return (Object.keys(mine) as (keyof typeof mine)[])
    .filter((field) => !isSame(field, mine[field], other[field]))
    .map((field) => ({ field, mine: mine[field], theirs: other[field] }))
}

const isSame = (field: string, one: string, other: string): boolean =>
  field === 'metadata' ? isEqual(readMetadata(one) ?? one, readMetadata(other)) : one === other
