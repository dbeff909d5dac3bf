/** The attributes of a dataset: names to copy, types, flags, and statistics on demand. */
import type { Dataset } from '@graticule/client'
import { type ReactElement, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copyable.tsx'
import { TextField } from '../../components/field.tsx'
import { Icon } from '../../components/icon.tsx'
import { Empty, Tag } from '../../components/note.tsx'
import { layout } from '../../components/page.tsx'
import { formatNumber } from '../../format.ts'
import { useRefusal } from '../../session/session.tsx'
import { typeIcon, typeLabel } from './attribute.ts'
import classes from './attributes/attributes.module.css'
import { StatisticsPanel } from './attributes/statistics-panel.tsx'
import { type DatasetAttribute, useDataset } from './dataset.ts'
import { AddColumn } from './edit/add-column.tsx'
import { EditColumn } from './edit/columns/edit-column.tsx'
import { DropColumn } from './edit/drop-column.tsx'

/** The number of attributes from which a search field is shown. */
const many = 12

export function AttributesTab(): ReactElement {
  const dataset = useDataset()
  const [search, setSearch] = useState('')
  const { attributes } = dataset
  const shown = attributes.filter(({ name }) => name.toLowerCase().includes(search.trim().toLowerCase()))
  if (attributes.length === 0) {
    return <Empty title="This dataset has no attributes">{<p>Its source answers rows without any column.</p>}</Empty>
  }
  return (
    <div className={`${classes.attributes} ${layout.section}`}>
      {attributes.length >= many && (
        <TextField
          label="Search attributes"
          type="search"
          isLabelHidden
          placeholder="Search attributes"
          value={search}
          onChange={setSearch}
        />
      )}
      <p className={classes.muted}>
        {shown.length === attributes.length
          ? `${formatNumber(attributes.length)} attributes. `
          : `${formatNumber(shown.length)} of ${formatNumber(attributes.length)} attributes. `}
        {sourceOfDescriptions[dataset.type]}
      </p>
      <div>
        <AddColumn dataset={dataset} />
      </div>
      <ul aria-label="Attributes">
        {shown.map((attribute) => (
          <AttributeItem key={attribute.name} dataset={dataset} attribute={attribute} />
        ))}
      </ul>
    </div>
  )
}

const sourceOfDescriptions: Record<Dataset['type'], string> = {
  table: 'Types, defaults and descriptions are those of the table.',
  sql: 'They are the columns that the SQL answers.',
  rest: 'They were found in the answer of the service.',
  lambda: 'They were found in the answer of the function.',
}

interface AttributeItemProps {
  dataset: Dataset
  attribute: DatasetAttribute
}

function AttributeItem({ dataset, attribute }: AttributeItemProps): ReactElement {
  const [isOpen, setOpen] = useState(false)
  const refusal = useRefusal()('datasets', 'execute', dataset.id)
  const { name, type, dbType, description } = attribute
  return (
    <li className={classes.item}>
      <div className={classes.row}>
        <div className={classes.name}>
          <span>{name}</span>
          <CopyButton text={name} label={`the name ${name}`} />
        </div>
        <div className={classes.type}>
          <Icon name={typeIcon(type)} />
          <span>
            {typeLabel(attribute)}
            <small>{dbType}</small>
          </span>
        </div>
        <div className={classes.flags}>
          {flagsOf(attribute).map((flag) => (
            <Tag key={flag}>{flag}</Tag>
          ))}
        </div>
        <div className={classes.description}>
          {description}
          {attribute.default && (
            <small>
              default <code>{attribute.default}</code>
            </small>
          )}
        </div>
        <div className={classes.actions}>
          <Button
            variant="ghost"
            icon="chart"
            aria-expanded={isOpen}
            disabledReason={refusal}
            aria-label={`Statistics of ${name}`}
            onClick={() => setOpen(!isOpen)}
          >
            Statistics
          </Button>
          <EditColumn dataset={dataset} attribute={attribute} />
          <DropColumn dataset={dataset} attribute={attribute} />
        </div>
      </div>
      {isOpen && (
        <div className={classes.panel}>
          <StatisticsPanel dataset={dataset} attribute={attribute} />
        </div>
      )}
    </li>
  )
}

/** key · counted up · required · SRID 4326 · 3D */
const flagsOf = ({ primaryKey, nullable, generated, srid, dimension, ...attribute }: DatasetAttribute): string[] =>
  [
    primaryKey && 'key',
    generated === 'byDefault' && 'counted up',
    generated === 'always' && 'generated',
    !(nullable || primaryKey || generated || attribute.default) && 'required',
    !nullable && !primaryKey && (attribute.default || generated) && 'not null',
    srid !== undefined && srid > 0 && `SRID ${srid}`,
    dimension !== undefined && dimension > 2 && `${dimension}D`,
  ].filter((flag) => typeof flag === 'string')
