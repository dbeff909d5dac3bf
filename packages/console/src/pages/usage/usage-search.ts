/** The search parameters of the usage page: the time that charts show, and the order of applications. */
import type { Sort } from '../../components/records/sort-header.tsx'

/** Days, or months, up to today. */
export const spans = { week: 7, month: 30, quarter: 90, year: 12 } as const
export type UsageSpan = keyof typeof spans

export const spanLabels: Readonly<Record<UsageSpan, string>> = {
  week: '7 days',
  month: '30 days',
  quarter: '90 days',
  year: '12 months',
}

export const defaultSpan: UsageSpan = 'month'

export const sortFields = ['name', 'requests', 'refused', 'bytesOut', 'tiles', 'queries', 'storage'] as const
export type UsageSortField = (typeof sortFields)[number]

export const defaultSort: Sort<UsageSortField> = '-requests'

export interface UsageSearch {
  span?: UsageSpan | undefined
  sort?: Sort<UsageSortField> | undefined
  /** What the list of applications counts; this month unless said. */
  during?: 'today' | undefined
}

/** Invalid parameters are ignored, defaults are left out. */
export function readUsageSearch({ span, sort, during }: Record<string, unknown>): UsageSearch {
  const order = sortFields.flatMap((name) => [name, `-${name}`] as const).find((field) => field === sort)
  return {
    ...(typeof span === 'string' && Object.hasOwn(spans, span) && span !== defaultSpan && { span: span as UsageSpan }),
    ...(order && order !== defaultSort && { sort: order }),
    ...(during === 'today' && { during }),
  }
}
