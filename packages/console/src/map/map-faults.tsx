/** Errors of a map, shown over it until they are dismissed. */
import { useCallback, useState } from 'react'
import { IconButton } from '../components/button.tsx'
import { ErrorNote } from '../components/error-note.tsx'
import { mapFault } from './map-fault.ts'
import classes from './map-frame.module.css'

/** Shows each message once, because many tiles fail for the same reason. */
export function useMapFaults() {
  const [faults, setFaults] = useState<readonly Error[]>([])
  const report = useCallback((error: Error) => {
    void mapFault(error).then((fault) =>
      setFaults((faults) => (faults.some(({ message }) => message === fault.message) ? faults : [...faults, fault])),
    )
  }, [])
  const dismiss = useCallback((fault: Error) => setFaults((faults) => faults.filter((other) => other !== fault)), [])
  return { faults, report, dismiss }
}

interface MapFaultsProps {
  faults: readonly Error[]
  onDismiss(fault: Error): void
}

export function MapFaults({ faults, onDismiss }: MapFaultsProps) {
  return faults.length === 0 ? null : (
    <div className={classes.faults}>
      {faults.slice(-3).map((fault) => (
        <div key={fault.message} className={classes.fault}>
          <ErrorNote error={fault} />
          <IconButton icon="close" label="Dismiss this error" onClick={() => onDismiss(fault)} />
        </div>
      ))}
    </div>
  )
}
