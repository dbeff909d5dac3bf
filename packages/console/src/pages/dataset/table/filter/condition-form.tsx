/**
 * The form of one part of the filter: one or more alternative conditions. Applied on Enter, and automatically after a pause
 * in typing.
 */

import { isNumeric } from '@graticule/map/recipe'
import { type ReactElement, useEffect, useEffectEvent, useRef, useState } from 'react'
import { Button, IconButton } from '../../../../components/button.tsx'
import { Select } from '../../../../components/field.tsx'
import { type DatasetAttribute, useDataset } from '../../dataset.ts'
import type { FilterCondition, Part } from '../../filter.ts'
import { defaultOperator, type OperatorName, operators, operatorsOf, parseValue } from '../../operators.ts'
import { useMapView } from '../map/map-view-box.ts'
import classes from './filter-bar.module.css'
import { type ConditionDraft, ValueFields } from './value-fields.tsx'

type Conditions = Extract<Part, { any: unknown }>

/** Debounce: a text search reads the whole table. */
const typingMs = 400

export interface ConditionFormProps {
  part: Conditions
  /** `isStep`: creates a history entry, for the first change of the form. */
  onPart(part: Part, isStep: boolean): void
  onDone(): void
}

export function ConditionForm({ part, onPart, onDone }: ConditionFormProps): ReactElement {
  const { attributes } = useDataset()
  const [drafts, setDrafts] = useState(() => part.any.flatMap((one) => draftOf(one, attributes)))
  const [isShowingErrors, setShowingErrors] = useState(false)
  const apply = useApply(drafts, part, onPart)
  const change = (place: number, ...next: ConditionDraft[]) => setDrafts(drafts.toSpliced(place, 1, ...next))
  const last = drafts.at(-1)
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault()
        setShowingErrors(true)
        if (apply()) onDone()
      }}
    >
      {drafts.map((draft, place) => (
        <div key={place} className={classes.condition}>
          {drafts.length > 1 && (
            <div className={classes.alternative}>
              {place > 0 ? 'or' : 'either'}
              <IconButton icon="trash" label="Remove this alternative" onClick={() => change(place)} />
            </div>
          )}
          <DraftFields draft={draft} isShowingErrors={isShowingErrors} onDraft={(next) => change(place, next)} />
        </div>
      ))}
      <div className={classes.actions}>
        {last && (
          <Button variant="ghost" icon="plus" onClick={() => setDrafts([...drafts, { ...last, texts: [] }])}>
            Or
          </Button>
        )}
        <Button type="submit" variant="primary">
          Apply
        </Button>
      </div>
    </form>
  )
}

/** Applies complete conditions after a pause or when called. Returns whether they were complete. */
function useApply(
  drafts: readonly ConditionDraft[],
  part: Conditions,
  onPart: ConditionFormProps['onPart'],
): () => boolean {
  const applied = useRef({ text: JSON.stringify(part), isFirst: true })
  const view = useMapView()
  const apply = (): boolean => {
    const conditions = drafts.map((draft) => conditionOf(draft, view.current))
    if (!conditions.every((one) => one !== undefined)) return false
    const next: Part = { any: conditions }
    const text = JSON.stringify(next)
    if (text !== applied.current.text) onPart(next, applied.current.isFirst)
    applied.current = { text, isFirst: false }
    return true
  }
  const applyLate = useEffectEvent(apply)
  const typed = JSON.stringify(drafts)
  useEffect(() => {
    const timer = setTimeout(() => applyLate(), typingMs)
    return () => clearTimeout(timer)
  }, [typed])
  return apply
}

interface DraftFieldsProps {
  draft: ConditionDraft
  isShowingErrors: boolean
  onDraft(draft: ConditionDraft): void
}

function DraftFields({ draft, isShowingErrors, onDraft }: DraftFieldsProps): ReactElement {
  const { attributes } = useDataset()
  const { attribute, operator } = draft
  const choose = (name: string) => {
    const next = attributes.find((one) => one.name === name)
    if (!next) return
    const staysValid = operatorsOf(next.type).includes(operator) && next.type === attribute.type
    onDraft({ attribute: next, operator: staysValid ? operator : defaultOperator(next.type), texts: [] })
  }
  return (
    <>
      <Select
        label="Attribute"
        isLabelHidden
        value={attribute.name}
        options={attributes.map(({ name }) => name)}
        onChange={choose}
      />
      <Select
        label="Operator"
        isLabelHidden
        value={operator}
        options={operatorsOf(attribute.type).map((name) => ({ value: name, label: operators[name].label }))}
        onChange={(next) => onDraft({ ...draft, operator: next, texts: keptTexts(draft, next) })}
      />
      <ValueFields draft={draft} isShowingErrors={isShowingErrors} onTexts={(texts) => onDraft({ ...draft, texts })} />
    </>
  )
}

/** Keeps the typed texts that the new operator accepts. */
function keptTexts({ texts }: ConditionDraft, operator: OperatorName): readonly string[] {
  const most = { none: 0, one: 1, two: 2, list: texts.length, box: 0 }
  return texts.slice(0, most[operators[operator].takes])
}

function draftOf(
  { attribute, operator, values }: FilterCondition,
  attributes: readonly DatasetAttribute[],
): ConditionDraft[] {
  const column = attributes.find(({ name }) => name === attribute)
  return column ? [{ attribute: column, operator, texts: values.map(String) }] : []
}

/** Undefined while it is incomplete or invalid. A box is the map's view unless it is already set. */
function conditionOf(
  { attribute, operator, texts }: ConditionDraft,
  view: readonly number[] | null,
): FilterCondition | undefined {
  const { takes } = operators[operator]
  const condition = (values: FilterCondition['values']) => ({ attribute: attribute.name, operator, values })
  if (takes === 'none') return condition([])
  if (takes === 'box') {
    const box = texts.length === 4 ? texts.map(Number) : view
    return box ? condition(box) : undefined
  }
  const count = takes === 'two' ? 2 : takes === 'one' ? 1 : Math.max(1, texts.length)
  const read = Array.from({ length: count }, (_, at) => parseValue(attribute.type, texts[at] ?? ''))
  if (!read.every((one) => 'value' in one)) return undefined
  const values = read.map(({ value }) => value)
  const isTurned = operator === 'between' && isNumeric(attribute.type) && Number(values[0]) > Number(values[1])
  return condition(isTurned ? values.toReversed() : values)
}
