/** The panel of categorical colours: one for each value, another for all others. */
import type { AttributeStatistics } from '@graticule/client'
import { type Categories, type Category, type Colouring, colouredCategories } from '@graticule/map/recipe'
import type { ReactElement } from 'react'
import { IconButton } from '../../../../components/button.tsx'
import { formatNumber } from '../../../../format.ts'
import { useEditor } from '../../editor-context.tsx'
import classes from '../panel.module.css'
import { ColourField } from './colour-field.tsx'
import { RampChoice } from './ramp-choice.tsx'

interface CategoriesPanelProps {
  categories: Categories
  statistics: AttributeStatistics
  set(next: Colouring, of?: string): void
}

export function CategoriesPanel({ categories, statistics, set }: CategoriesPanelProps): ReactElement {
  const { theme } = useEditor()
  const { categories: list, ramp, isReversed, others, otherColour, nullColour } = categories
  const counts = new Map(statistics.frequent.map(({ value, count }) => [String(value), count]))
  const setColour = (index: number, colour: string) =>
    set(
      { ...categories, categories: list.map((one, at) => (at === index ? { ...one, colour } : one)) },
      `category ${index}`,
    )
  const remove = (index: number) => set({ ...categories, categories: list.toSpliced(index, 1), others: others + 1 })
  return (
    <>
      <ul className={classes.classes} aria-label="Categories">
        {list.map((category, index) => (
          <li key={String(category.value)}>
            <ColourField
              isBare
              label={`Colour of ${textOf(category)}`}
              value={category.colour}
              onChange={(colour) => setColour(index, colour)}
            />
            <span>{textOf(category)}</span>
            <Count value={counts.get(String(category.value))} isSample={statistics.sampled} />
            <IconButton
              icon="close"
              label={`Count ${textOf(category)} among the others`}
              onClick={() => remove(index)}
            />
          </li>
        ))}
        {others > 0 && (
          <li>
            <ColourField
              isBare
              label="Colour of the others"
              value={otherColour}
              onChange={(next) => set({ ...categories, otherColour: next }, 'other')}
            />
            <span>Other ({formatNumber(others)} more values)</span>
          </li>
        )}
      </ul>
      <RampChoice
        ramp={ramp}
        isReversed={isReversed}
        count={list.length}
        theme={theme}
        kinds={['qualitative', 'sequential', 'diverging']}
        onChange={(change) => {
          const next = { ...categories, ...change }
          set({
            ...next,
            categories: colouredCategories(
              list.map(({ value }) => value),
              next,
              theme,
            ),
          })
        }}
      />
      <ColourField
        label="No value"
        value={nullColour}
        onChange={(next) => set({ ...categories, nullColour: next }, 'null')}
      />
    </>
  )
}

function textOf({ value }: Category): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  return value === '' ? '(empty text)' : String(value)
}

const Count = ({ value, isSample }: { value: number | undefined; isSample: boolean }): ReactElement | null =>
  value === undefined ? null : (
    <small className={classes.count} title={isSample ? 'In a sample' : undefined}>
      {isSample ? '~ ' : ''}
      {formatNumber(value)}
    </small>
  )
