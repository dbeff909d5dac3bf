/** The panel of graduated colours: method, number of classes, histogram with breaks, ramp. */

import {
  type BreakMethod,
  breakMethods,
  breaksFor,
  type Colouring,
  computeBreaks,
  type Graduated,
  graduatedClasses,
  isMethodPossible,
  maxClasses,
  methodTexts,
  minClasses,
  numberFormat,
  type RampKind,
  tidyBreaks,
} from '@graticule/map/recipe'
import { type ReactElement, useState } from 'react'
import { IconButton } from '../../../../components/button.tsx'
import { Field, Select } from '../../../../components/field.tsx'
import { formatNumber } from '../../../../format.ts'
import { useEditor } from '../../editor-context.tsx'
import type { AttributeValues } from '../../styles-query.ts'
import classes from '../panel.module.css'
import { ColourField } from './colour-field.tsx'
import { Histogram } from './histogram.tsx'
import { RampChoice } from './ramp-choice.tsx'

interface GraduatedPanelProps {
  graduated: Graduated
  values: AttributeValues
  set(next: Colouring, of?: string): void
}

export function GraduatedPanel({ graduated, values, set }: GraduatedPanelProps): ReactElement {
  const { theme } = useEditor()
  const { distribution } = values
  const { method, breaks, min, max } = graduated
  const recompute = (change: Partial<Pick<Graduated, 'method' | 'classes'>>) =>
    set(withMethod({ ...graduated, ...change }, values))
  const byHand = (next: number[]) =>
    set({ ...graduated, method: 'manual', breaks: next, classes: next.length + 1 }, 'breaks')
  const isAroundZero = min < 0 && max > 0 && !graduated.isDate
  const kinds: RampKind[] = isAroundZero ? ['diverging', 'sequential'] : ['sequential', 'diverging']
  return (
    <>
      <Select
        label="Method"
        value={method}
        hint={methodTexts[method].hint}
        options={breakMethods.map((value) => ({
          value,
          label: methodTexts[value].label,
          isDisabled: !isMethodPossible(value, distribution),
        }))}
        onChange={(value) => recompute({ method: value })}
      />
      <Classes graduated={graduated} onChange={(count) => recompute({ classes: count })} />
      <Histogram graduated={graduated} distribution={distribution} theme={theme} onBreaks={byHand} />
      <p className={classes.hint}>
        {sourceText(values)} {noteOf(graduated, values)}
      </p>
      <ClassList graduated={graduated} set={set} onBreaks={byHand} />
      <RampChoice
        ramp={graduated.ramp}
        isReversed={graduated.isReversed}
        count={breaks.length + 1}
        theme={theme}
        kinds={kinds}
        onChange={(change) => set({ ...graduated, ...change, own: {} })}
      />
      <ColourField
        label="No value"
        value={graduated.nullColour}
        onChange={(nullColour) => set({ ...graduated, nullColour }, 'null')}
      />
    </>
  )
}

/** Recomputes the breaks. Manual ones are kept; a break is added in the widest class, or the last one removed. */
function withMethod(graduated: Graduated, { distribution }: AttributeValues): Graduated {
  const { method, classes: count, isDate } = graduated
  if (method === 'manual') return { ...graduated, breaks: withCount(graduated, count) }
  return { ...graduated, breaks: breaksFor(method, count, distribution, isDate), own: {} }
}

function withCount({ breaks, min, max }: Graduated, count: number): number[] {
  if (breaks.length + 1 >= count) return breaks.slice(0, count - 1)
  const ends = [min, ...breaks, max]
  const widths = ends.slice(1).map((end, index) => end - (ends[index] ?? min))
  const widest = widths.indexOf(Math.max(...widths))
  const middle = ((ends[widest] ?? min) + (ends[widest + 1] ?? max)) / 2
  return tidyBreaks([...breaks, Number(middle.toPrecision(3))], { min, max })
}

const sourceText = ({ isSample, distribution: { values } }: AttributeValues): string =>
  isSample ? `From a sample of ${formatNumber(values.length)} rows.` : `From all ${formatNumber(values.length)} values.`

function noteOf({ method, classes: count }: Graduated, { distribution }: AttributeValues): string | null {
  return method === 'manual' ? null : computeBreaks(method as Exclude<BreakMethod, 'manual'>, count, distribution).note
}

interface ClassesProps {
  graduated: Graduated
  onChange(count: number): void
}

function Classes({ graduated, onChange }: ClassesProps): ReactElement {
  const { classes: count } = graduated
  return (
    <div className={classes.row}>
      <span className={classes.grow}>Classes</span>
      <span className={classes.stepper}>
        <IconButton
          icon="minus"
          label="Fewer classes"
          disabled={count <= minClasses}
          onClick={() => onChange(count - 1)}
        />
        <output aria-label="Number of classes">{count}</output>
        <IconButton
          icon="plus"
          label="More classes"
          disabled={count >= maxClasses}
          onClick={() => onChange(count + 1)}
        />
      </span>
    </div>
  )
}

interface ClassListProps {
  graduated: Graduated
  set(next: Colouring, of?: string): void
  onBreaks(breaks: number[]): void
}

function ClassList({ graduated, set, onBreaks }: ClassListProps): ReactElement {
  const { theme } = useEditor()
  const format = numberFormat(graduated)
  return (
    <ol className={classes.classes} aria-label="Classes">
      {graduatedClasses(graduated, theme).map(({ from, to, colour }, index) => (
        <li key={`${index} ${to}`}>
          <ColourField
            isBare
            label={`Colour of class ${index + 1}`}
            value={colour}
            onChange={(next) => set({ ...graduated, own: { ...graduated.own, [index]: next } }, `class ${index}`)}
          />
          <span>
            {to === undefined ? '≥ ' : ''}
            {format(from)}
            {to === undefined ? '' : ' –'}
          </span>
          {to !== undefined && (
            <BreakField
              label={`Upper end of class ${index + 1}`}
              value={to}
              isDate={graduated.isDate}
              onCommit={(next) => onBreaks(tidyBreaks(graduated.breaks.with(index, next), graduated))}
            />
          )}
        </li>
      ))}
    </ol>
  )
}

interface BreakFieldProps {
  label: string
  value: number
  isDate: boolean
  onCommit(value: number): void
}

/** Commits only a complete value, because a partly typed number could change the order of the breaks. */
function BreakField({ label, value, isDate, onCommit }: BreakFieldProps): ReactElement {
  const [text, setText] = useState<string | null>(null)
  const shown = text ?? (isDate ? new Date(value).toISOString().slice(0, 10) : String(value))
  const commit = () => {
    const next = isDate ? Date.parse(shown) : Number(shown.replaceAll(/[\s'’]/g, '').replace(',', '.'))
    if (text !== null && Number.isFinite(next) && shown.trim() !== '') onCommit(next)
    setText(null)
  }
  return (
    <Field label={label} isLabelHidden>
      {({ className: _, ...props }) => (
        <input
          {...props}
          type="text"
          inputMode={isDate ? 'text' : 'decimal'}
          value={shown}
          onChange={(event) => setText(event.target.value)}
          onBlur={commit}
          onKeyDown={(event) => event.key === 'Enter' && commit()}
        />
      )}
    </Field>
  )
}
