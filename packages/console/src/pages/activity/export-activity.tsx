/** Saves all entries that the filter lets through as a file. */
import { type ReactElement, useEffect, useRef, useState } from 'react'
import { Button, IconButton } from '../../components/button.tsx'
import { Menu } from '../../components/popup/menu.tsx'
import { useToast } from '../../components/toast.tsx'
import { formatBytes } from '../../format.ts'
import { useIsPhone } from '../../media.ts'
import { saveFile } from '../../save-file.ts'
import { useClient } from '../../session/session.tsx'
import { type ActivitySearch, auditFilter } from './activity-search.ts'

const formats = { csv: 'CSV', ndjson: 'JSON lines' } as const
type Format = keyof typeof formats

interface ExportActivityProps {
  search: ActivitySearch
}

export function ExportActivity({ search }: ExportActivityProps): ReactElement {
  const isPhone = useIsPhone()
  const { running, start } = useExport(search)
  if (running) {
    return (
      <Button icon="close" onClick={() => running.abort()}>
        Cancel the export
      </Button>
    )
  }
  return (
    <Menu
      trigger={isPhone ? <IconButton icon="download" label="Export" /> : <Button icon="download">Export</Button>}
      items={(Object.keys(formats) as Format[]).map((format) => ({
        label: formats[format],
        icon: 'download',
        onSelect: () => void start(format),
      }))}
    />
  )
}

function useExport(search: ActivitySearch) {
  const client = useClient()
  const toast = useToast()
  const [running, setRunning] = useState<AbortController | null>(null)
  const current = useRef<AbortController>(null)
  useEffect(() => () => current.current?.abort(), [])
  const start = async (format: Format) => {
    const abort = new AbortController()
    current.current = abort
    setRunning(abort)
    try {
      const filter = auditFilter(search, Date.now())
      const blob = await client.audit.export(format, { ...(filter && { filter }), signal: abort.signal })
      const name = `activity-${new Date().toISOString().slice(0, 10)}.${format}`
      saveFile(blob, name)
      toast.say({ title: `Saved ${name}`, text: formatBytes(blob.size) })
    } catch (error) {
      if (!abort.signal.aborted) toast.fail('The export failed', error)
    } finally {
      setRunning(null)
    }
  }
  return { running, start }
}
