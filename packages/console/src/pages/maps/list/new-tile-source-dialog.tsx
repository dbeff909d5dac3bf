/** The dialog that creates a tile source from a dataset, an archive or another server. */
import type { TileSourceCreate } from '@graticule/client'
import { geometryOf } from '@graticule/map/recipe'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactElement, useState } from 'react'
import { useFaults } from '../../../components/faults/use-faults.ts'
import { Select, TextField } from '../../../components/field.tsx'
import { FormDialog } from '../../../components/form-dialog.tsx'
import { queryKeys } from '../../../query-keys.ts'
import { useClient } from '../../../session/session.tsx'
import { datasetListQuery } from '../styles-query.ts'

const typeTexts: Record<string, string> = {
  dataset: 'A dataset of this application',
  tilelive: 'An archive of tiles, or another tile server',
}

type Type = TileSourceCreate['type']

interface NewTileSourceDialogProps {
  onClose(): void
}

export function NewTileSourceDialog({ onClose }: NewTileSourceDialogProps): ReactElement {
  const client = useClient()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [type, setType] = useState<Type>('dataset')
  const [source, setSource] = useState('')
  const [name, setName] = useState('')
  const { data: drivers = ['dataset', 'tilelive'] } = useQuery({
    queryKey: queryKeys.tilesources.part('drivers'),
    queryFn: ({ signal }) => client.tileSources.drivers({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const make = useMutation({
    mutationFn: () => client.tileSources.create({ type, source, ...(name && { name }) }),
    async onSuccess({ id }) {
      await queries.invalidateQueries({ queryKey: queryKeys.tilesources.list })
      void navigate({ to: '/tiles/$tileSourceId', params: { tileSourceId: id } })
    },
  })
  const fault = useFaults(make.error).at('source')
  return (
    <FormDialog
      title="New tile source"
      onClose={onClose}
      labels={['Make', 'Looking at it …']}
      isPending={make.isPending}
      missing={source ? undefined : 'Say first where the tiles come from.'}
      error={fault ? null : make.error}
      onSubmit={() => make.mutate()}
    >
      <Select
        label="Tiles of"
        value={type}
        options={drivers.map((driver) => ({ value: driver as Type, label: typeTexts[driver] ?? driver }))}
        onChange={(next) => {
          setType(next)
          setSource('')
          make.reset()
        }}
      />
      <SourceField type={type} value={source} error={fault} onChange={setSource} />
      <TextField
        label="Name (optional)"
        hint="What maps call it; otherwise as its data."
        value={name}
        onChange={setName}
      />
    </FormDialog>
  )
}

interface SourceFieldProps {
  type: Type
  value: string
  error: string | undefined
  onChange(value: string): void
}

function SourceField({ type, value, error, onChange }: SourceFieldProps): ReactElement {
  const client = useClient()
  const { data: datasets = [] } = useQuery(datasetListQuery(client))
  if (type !== 'dataset') {
    return (
      <TextField
        label="Where the tiles are"
        value={value}
        error={error}
        placeholder="https://tiles.example.org/{z}/{x}/{y}.png"
        hint="pmtiles://name.pmtiles or mbtiles://name.mbtiles for a file of this application, pmtiles://https://… for an archive on the web, or the address of tiles with {z}/{x}/{y}."
        onChange={onChange}
      />
    )
  }
  return (
    <Select
      label="Dataset"
      value={value}
      error={error}
      options={[
        { value: '', label: 'Choose …' },
        ...datasets.filter((dataset) => geometryOf(dataset)).map(({ id, name }) => ({ value: id, label: name })),
      ]}
      onChange={onChange}
    />
  )
}
