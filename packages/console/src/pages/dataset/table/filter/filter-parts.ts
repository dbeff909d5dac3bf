/** A hook for the parts of the filter, which are stored in the URL. */
import type { JsonObject } from '@graticule/client'
import { useMemo } from 'react'
import type { ColumnType } from '../../attribute.ts'
import { useDataset } from '../../dataset.ts'
import { fromWhere, type Part, toWhere, typesOf } from '../../filter.ts'
import { useView } from '../../view.ts'

export interface FilterParts {
  where: JsonObject | undefined
  parts: readonly Part[]
  types: ReadonlyMap<string, ColumnType>
  addPart(part: Part): void
  /** Replaces a part; null removes it. `isStep` creates a history entry. */
  setPart(place: number, part: Part | null, isStep?: boolean): void
  /** Replaces the whole filter; undefined clears it. */
  replace(where: JsonObject | undefined): void
}

export function useFilterParts(): FilterParts {
  const dataset = useDataset()
  const { where, change } = useView()
  return useMemo(() => {
    const types = typesOf(dataset)
    const parts = fromWhere(where, types)
    const write = (changed: readonly Part[], isStep: boolean) => change({ where: toWhere(changed) }, isStep)
    return {
      where,
      parts,
      types,
      addPart: (part) => write([...parts, part], true),
      setPart: (place, part, isStep = true) => write(parts.toSpliced(place, 1, ...(part ? [part] : [])), isStep),
      replace: (next) => change({ where: next }, true),
    }
  }, [dataset, where, change])
}
