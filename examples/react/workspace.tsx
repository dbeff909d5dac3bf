import type { Client, Dataset, Style } from '@graticule/client'
import { DataSource, GraticuleMap, useAppState } from '@graticule/map/react'
import { useCallback, useEffect, useState } from 'react'
import { DatasetTable, keyOf } from './dataset-table.tsx'
import { FileUpload } from './file-upload.tsx'

/** A dataset as a table beside a map. What is selected in one is selected in the other, through the state. */
export function Workspace({ client }: { client: Client }) {
  const [styles, setStyles] = useState<Style[]>([])
  const [datasets, setDatasets] = useState<Dataset[]>([])
  const [chosen, setChosen] = useState('')
  const [selected, setSelected] = useAppState<(string | number)[]>('selected')
  const [problem, setProblem] = useState('')

  const load = useCallback(async () => {
    setStyles(await client.styles.list({ sort: ['name'] }))
    setDatasets(await client.datasets.list({ sort: ['name'] }))
  }, [client])
  useEffect(() => {
    load().catch((error) => setProblem(error.message))
  }, [load])

  const choose = (id: string) => {
    setSelected([])
    setChosen(id)
  }
  const dataset = datasets.find(({ id }) => id === chosen) ?? datasets[0]
  const style = styles.find(({ name }) => name === 'Light') ?? styles[0]
  return (
    <div className="workspace">
      <header>
        <select aria-label="Dataset" value={dataset?.id ?? ''} onChange={({ target }) => choose(target.value)}>
          {datasets.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
        <FileUpload client={client} onUploaded={(id) => load().then(() => choose(id))} />
        <span>{selected.length} selected</span>
        {problem && <span className="problem">{problem}</span>}
      </header>
      <div className="table">{dataset && <DatasetTable key={dataset.id} client={client} dataset={dataset} />}</div>
      {style && (
        <GraticuleMap client={client} style={style.id} center={[10, 30]} zoom={1.5}>
          {dataset && (
            <DataSource
              key={dataset.id}
              id="data"
              src={dataset.id}
              type="vector"
              featureId={keyOf(dataset)}
              selectionMode="multi"
              selectionState="selected"
              onError={({ detail }) => setProblem(detail.error.message)}
            />
          )}
        </GraticuleMap>
      )}
    </div>
  )
}
