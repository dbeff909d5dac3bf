/** Labels for the status and usage of an invocation. */
import type { AgentInvocation } from '@graticule/client'
import { formatNumber } from '../../format.ts'

export type InvocationStatus = AgentInvocation['status']

/** Cancelled is grey, because it is not a failure. */
export const invocationDots = {
  running: 'warn',
  succeeded: 'ok',
  failed: 'danger',
  cancelled: 'off',
} as const satisfies Record<InvocationStatus, string>

export const invocationStatuses: readonly InvocationStatus[] = ['running', 'succeeded', 'failed', 'cancelled']

/** "118 + 640 tokens", or other counts that the worker reported. */
export function usageText(usage: unknown): string | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined
  const { inputTokens, outputTokens, totalTokens, costUsd } = usage as Record<string, unknown>
  const parts = []
  if (isNumber(inputTokens) || isNumber(outputTokens)) {
    const both = [inputTokens, outputTokens].filter(isNumber).map((count) => formatNumber(count))
    parts.push(`${both.join(' + ')} tokens`)
  } else if (isNumber(totalTokens)) parts.push(`${formatNumber(totalTokens)} tokens`)
  if (isNumber(costUsd)) parts.push(`$${costUsd}`)
  return parts.length > 0 ? parts.join(' · ') : undefined
}

const isNumber = (value: unknown): value is number => typeof value === 'number'
