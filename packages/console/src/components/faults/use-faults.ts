/** The server's faults of single fields, for a form. */
import { useMemo } from 'react'
import { faultOf } from '../error-note.tsx'
import { type Faults, faultsOf } from './faults.ts'

export function useFaults(error: unknown): Faults {
  return useMemo(() => faultsOf(faultOf(error).fields), [error])
}
