/** The options of an upload: name, attribution, dataset to replace, and how to read the file. */
import type { UploadOptions } from '@graticule/client'
import { useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { Checkbox, Select, TextField } from '../components/field.tsx'
import { layout } from '../components/page.tsx'
import { queryKeys } from '../query-keys.ts'
import { useClient } from '../session/session.tsx'
import { sridFault } from './srid.ts'
import { withOption } from './upload-options.ts'
import classes from './uploads.module.css'

export interface UploadOptionsFormProps {
  options: UploadOptions
  /** One file only: several cannot share a name or replace one dataset. */
  isOne: boolean
  onChange(options: UploadOptions): void
}

type TextOption = 'name' | 'description' | 'attribution' | 'layer' | 'encoding' | 'sourceSrid' | 'targetSrid'

export function UploadOptionsForm({ options, isOne, onChange }: UploadOptionsFormProps): ReactElement {
  const text = (name: TextOption) => ({
    value: String(options[name] ?? ''),
    onChange: (value: string) => onChange(withOption(options, name, value.trim() === '' ? undefined : value)),
  })
  const isNew = options.datasetId === undefined
  return (
    <div className={layout.section}>
      {isOne && <ReplacedDataset options={options} onChange={onChange} />}
      <div className={classes.grid}>
        {isOne && isNew && (
          <TextField label="Name" hint="As the file is called, unless given" maxLength={255} {...text('name')} />
        )}
        <TextField label="Attribution" hint="Shown on maps" maxLength={2000} {...text('attribution')} />
      </div>
      <details className={classes.more}>
        <summary>How the file is read</summary>
        <div className={classes.grid}>
          <TextField
            label="Reference system of the file"
            hint="As the file says, unless given: 3067 or EPSG:3067"
            error={sridFault(options.sourceSrid)}
            {...text('sourceSrid')}
          />
          <TextField
            label="Reference system of the table"
            hint="4326 unless given"
            error={sridFault(options.targetSrid)}
            {...text('targetSrid')}
          />
          <TextField label="Layer" hint="Only this one of several" maxLength={255} {...text('layer')} />
          <TextField
            label="Encoding"
            hint="Detected unless given, such as windows-1251"
            maxLength={40}
            {...text('encoding')}
          />
          {isNew && <TextField label="Description" maxLength={10_000} {...text('description')} />}
        </div>
        <Checkbox
          label="Strict: fail at the first row that cannot be loaded, instead of skipping up to 1 % of them"
          isChecked={options.strict === true}
          onChange={(isStrict) => onChange(withOption(options, 'strict', isStrict || undefined))}
        />
      </details>
    </div>
  )
}

function ReplacedDataset({ options, onChange }: Omit<UploadOptionsFormProps, 'isOne'>): ReactElement {
  const client = useClient()
  const { data: tables = [] } = useQuery({
    queryKey: queryKeys.datasets.listWith({ only: 'tables' }),
    queryFn: ({ signal }) =>
      client.datasets.list({ filter: { type: 'table' }, fields: ['id', 'name'], sort: ['name'], limit: 1000, signal }),
  })
  return (
    <Select
      label="Becomes"
      value={options.datasetId ?? ''}
      options={[
        { value: '', label: 'A new dataset' },
        ...tables.map(({ id, name }) => ({ value: id, label: `New data of “${name}”` })),
      ]}
      hint={options.datasetId && 'The data are replaced at once when all are loaded; name, metadata and maps stay.'}
      onChange={(id) => onChange(withOption(options, 'datasetId', id || undefined))}
    />
  )
}
