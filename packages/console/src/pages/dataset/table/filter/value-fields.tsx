/** The value fields of a condition, by the attribute's type, with suggestions of frequent values. */

import { isNumeric } from '@graticule/map/recipe'
import { type ReactElement, useId } from 'react'
import { Checkbox, Select, TextArea, TextField } from '../../../../components/field.tsx'
import { formatNumber } from '../../../../format.ts'
import type { ColumnType } from '../../attribute.ts'
import type { DatasetAttribute } from '../../dataset.ts'
import { type OperatorName, operators, parseValue } from '../../operators.ts'
import { useStatistics } from '../column-statistics.tsx'
import { useMapView } from '../map/map-view-box.ts'
import classes from './filter-bar.module.css'

/** An unparsed condition. */
export interface ConditionDraft {
  attribute: DatasetAttribute
  operator: OperatorName
  texts: readonly string[]
}

export interface ValueFieldsProps {
  draft: ConditionDraft
  isShowingErrors: boolean
  /** Whether the first field takes the focus; not where it is one of many. */
  isFocused?: boolean
  onTexts(texts: readonly string[]): void
}

export function ValueFields(props: ValueFieldsProps): ReactElement | null {
  const { draft, onTexts } = props
  const { takes } = operators[draft.operator]
  if (takes === 'none') return null
  if (takes === 'box') return <BoxField isSet={draft.texts.length === 4} onRenew={() => onTexts([])} />
  if (takes === 'list') return <ListField {...props} />
  const places = takes === 'two' ? [0, 1] : [0]
  return (
    <>
      {places.map((place) => (
        <ValueField key={place} {...props} place={place} label={['Value', 'And'][place] ?? ''} />
      ))}
    </>
  )
}

const inputTypes: Partial<Record<ColumnType, string>> = { date: 'date', time: 'time' }
const hints: Partial<Record<ColumnType, string>> = { datetime: '2026-01-31T12:00:00Z' }

function ValueField({
  draft: { attribute, texts, operator },
  isShowingErrors,
  isFocused = true,
  onTexts,
  place,
  label,
}: ValueFieldsProps & { place: number; label: string }): ReactElement {
  const id = useId()
  const isPattern = ['contains', 'startsWith', 'endsWith', 'matches'].includes(operator)
  const { data } = useStatistics(
    attribute.name,
    !isPattern && attribute.type !== 'boolean' && attribute.type !== 'date',
  )
  const text = texts[place] ?? ''
  const set = (value: string) => onTexts(Object.assign([texts[0] ?? '', ...texts.slice(1)], { [place]: value }))
  if (attribute.type === 'boolean')
    return <Select label={label} isLabelHidden value={text} options={['', 'true', 'false']} onChange={set} />
  const read = parseValue(attribute.type, text)
  const error = 'error' in read && (isShowingErrors || text !== '') ? read.error : undefined
  return (
    <>
      <TextField
        label={label}
        isLabelHidden
        type={inputTypes[attribute.type] ?? 'text'}
        inputMode={isNumeric(attribute.type) ? 'decimal' : 'text'}
        placeholder={hints[attribute.type] ?? label}
        autoComplete="off"
        spellCheck={false}
        autoFocus={isFocused && place === 0}
        list={`${id}-values`}
        value={text}
        error={error}
        onChange={set}
      />
      <datalist id={`${id}-values`}>
        {data?.frequent.map(({ value }) => (
          <option key={String(value)} value={String(value)} />
        ))}
      </datalist>
    </>
  )
}

/** Checkboxes for the most frequent values, and a text area for others, one per line. */
function ListField({ draft: { attribute, texts }, isShowingErrors, onTexts }: ValueFieldsProps): ReactElement {
  const { data } = useStatistics(attribute.name)
  const offered = (data?.frequent ?? []).map(({ value, count }) => ({ value: String(value), count }))
  const others = texts.filter((text) => !offered.some(({ value }) => value === text))
  const wrong = texts.map((text) => parseValue(attribute.type, text)).find((read) => 'error' in read)
  const isEmpty = texts.length === 0 && isShowingErrors
  return (
    <div className={classes.list}>
      <ul aria-label="Most frequent values">
        {offered.map(({ value, count }) => (
          <li key={value}>
            <Checkbox
              label={`${value || '(empty text)'} · ${formatNumber(count)}${data?.sampled ? ' in the sample' : ''}`}
              isChecked={texts.includes(value)}
              onChange={(isChecked) =>
                onTexts(isChecked ? [...texts, value] : texts.filter((other) => other !== value))
              }
            />
          </li>
        ))}
      </ul>
      <TextArea
        label="Other values, one per line"
        rows={2}
        value={others.join('\n')}
        error={isEmpty ? 'Choose or type a value.' : wrong && 'error' in wrong ? wrong.error : undefined}
        onChange={(value) => {
          const ticked = texts.filter((text) => offered.some((one) => one.value === text))
          onTexts([...ticked, ...(value === '' ? [] : value.split('\n'))])
        }}
      />
    </div>
  )
}

interface BoxFieldProps {
  isSet: boolean
  onRenew(): void
}

function BoxField({ isSet, onRenew }: BoxFieldProps): ReactElement {
  const view = useMapView()
  if (!view.current) return <p className={classes.hint}>Show the map beside the table first: press m.</p>
  return isSet ? (
    <button type="button" className={classes.renew} onClick={onRenew}>
      Take the view of now
    </button>
  ) : (
    <p className={classes.hint}>What the map shows now.</p>
  )
}
