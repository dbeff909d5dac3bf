/** A hook for the view of a dataset, which is stored in the URL. */
import type { JsonObject } from '@graticule/client'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { type DatasetView, readView } from './view-address.ts'

export interface ViewAccess extends DatasetView {
  /** `isStep` creates a history entry. */
  change(change: DatasetView, isStep?: boolean): void
}

export function useView(): ViewAccess {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const text = JSON.stringify(readView(search))
  return useMemo(() => {
    const view = JSON.parse(text) as DatasetView
    const change = (changed: DatasetView, isStep = false) =>
      void navigate({ to: '.', search: (before: object) => ({ ...before, ...changed }), replace: !isStep })
    return { ...view, change }
  }, [text, navigate])
}

/** The conjunction of two filters. */
export const bothOf = (one: JsonObject | undefined, other: JsonObject): JsonObject =>
  one ? { $and: [one, other] } : other
