/** The response of `?explain=true` for a tile. */
import { formatNumber } from '../../format.ts'

export interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Plan Rows'?: number
  'Total Cost'?: number
  Plans?: PlanNode[]
}

export interface TileExplanation {
  source: 'dataset' | 'tilelive'
  cache: 'hit' | 'miss'
  /** shown/total, or shown/~total if it is an estimate */
  features?: string
  skipped?: number
  /** `tile` is the uncompressed size; the other name is the compression. */
  bytes?: Record<string, number>
  bytesPerAttribute?: Record<string, number>
  milliseconds?: Record<string, number>
  sql?: string
  plan?: PlanNode
  hints?: string[]
  stored?: unknown
}

export const readExplanation = (bytes: ArrayBuffer | null): TileExplanation =>
  JSON.parse(new TextDecoder().decode(bytes ?? new ArrayBuffer(0))) as TileExplanation

export function compressionOf(explanation: TileExplanation | undefined): { name: string; bytes: number } | undefined {
  const [name, bytes] = Object.entries(explanation?.bytes ?? {}).find(([key]) => key !== 'tile') ?? []
  return name === undefined || bytes === undefined || name === 'identity' ? undefined : { name, bytes }
}

/** 6 488 of 110 759 features */
export function featuresText(features: string | null | undefined): string | undefined {
  const [, shown, about, total] = /^(\d+)\/(~?)(\d+)$/.exec(features ?? '') ?? []
  if (shown === undefined) return undefined
  if (shown === total) return `${formatNumber(Number(shown))} features`
  return `${formatNumber(Number(shown))} of ${about ? 'about ' : ''}${formatNumber(Number(total))} features`
}
