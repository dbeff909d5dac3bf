/** The draft of a new dataset, and the request that creates it. */
import type { DatasetCreate, JsonObject } from '@graticule/client'
import { parametersOf } from '../dataset/query/parameters.ts'
import type { DatasetType } from './data-search.ts'

export const parameterTypes = ['string', 'integer', 'number', 'boolean', 'date', 'datetime', 'time', 'uuid'] as const
export type ParameterType = (typeof parameterTypes)[number]

export interface ParameterDraft {
  type: ParameterType
  /** Empty: the parameter is required. */
  preset: string
}

export interface DatasetDraft {
  type: DatasetType
  name: string
  description: string
  source: string
  /** Empty: the default database. */
  databaseId: string
  /** Separated by commas. */
  tags: string
  /** By the names of the placeholders in the source. */
  parameters: Readonly<Record<string, ParameterDraft>>
  /** The path of the rows in a web service's response. */
  rowsPath: string
  latitude: string
  longitude: string
  /** `Name: value` on each line; secret. */
  headers: string
  isMapped: boolean
}

export const emptyDraft = (type: DatasetType): DatasetDraft => ({
  type,
  name: '',
  description: '',
  source: '',
  databaseId: '',
  tags: '',
  parameters: {},
  rowsPath: '',
  latitude: '',
  longitude: '',
  headers: '',
  isMapped: true,
})

export const textParameter: ParameterDraft = { type: 'string', preset: '' }

/** The names of the placeholders in the source. */
export const parameterNames = ({ type, source }: Pick<DatasetDraft, 'type' | 'source'>): string[] =>
  parametersOf({ type, source, metadata: {} }).map(({ name }) => name)

export function datasetOf(draft: DatasetDraft): DatasetCreate {
  const { type, name, description, source, databaseId } = draft
  const metadata = metadataOf(draft)
  const headers = type === 'rest' ? readHeaders(draft.headers) : {}
  return {
    type,
    name: name.trim(),
    source: source.trim(),
    ...(description.trim() && { description: description.trim() }),
    ...(databaseId && (type === 'table' || type === 'sql') && { databaseId }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(Object.keys(headers).length > 0 && { secrets: { headers } }),
  }
}

function metadataOf(draft: DatasetDraft): JsonObject {
  const tags = draft.tags
    .split(',')
    .map((tag) => tag.trim())
    .filter(Boolean)
  const parameters = parameterNames(draft).map((name) => declaration(name, draft.parameters[name] ?? textParameter))
  const rest = restOf(draft)
  return {
    ...(tags.length > 0 && { tags: [...new Set(tags)] }),
    ...(parameters.length > 0 && { parameters }),
    ...(Object.keys(rest).length > 0 && { rest }),
  }
}

const declaration = (name: string, { type, preset }: ParameterDraft): JsonObject => ({
  name,
  type,
  ...(preset === '' ? { required: true } : { default: presetOf(type, preset) }),
})

function presetOf(type: ParameterType, text: string): unknown {
  if (type === 'boolean') return text.trim().toLowerCase() === 'true'
  const number = Number(text)
  return (type === 'integer' || type === 'number') && Number.isFinite(number) ? number : text
}

function restOf({ type, rowsPath, latitude, longitude }: DatasetDraft): JsonObject {
  if (type !== 'rest') return {}
  const [path, lat, lon] = [rowsPath.trim(), latitude.trim(), longitude.trim()]
  return { ...(path && { path }), ...((lat || lon) && { point: { lat, lon } }) }
}

/** A line without a colon becomes a header without a value, which the server refuses with a message. */
function readHeaders(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', value = ''] = line.split(/:(.*)/s)
      return [name.trim(), value.trim()]
    }),
  )
}
