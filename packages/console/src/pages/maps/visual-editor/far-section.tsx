/** What is drawn far out in place of single features: heat, hexagons, squares, clusters. */
import {
  type CellsRecipe,
  type FarRecipe,
  type HeatRecipe,
  isCells,
  isNumeric,
  type LayerRecipe,
  numberOf,
} from '@graticule/map/recipe'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { ErrorNote } from '../../../components/error-note.tsx'
import { Checkbox, Select, Slider } from '../../../components/field.tsx'
import { useClient } from '../../../session/session.tsx'
import { useEditor } from '../editor-context.tsx'
import { valuesQuery } from '../styles-query.ts'
import { ColourField } from './colours/colour-field.tsx'
import { RampChoice } from './colours/ramp-choice.tsx'
import classes from './panel.module.css'
import type { SectionProps } from './section.ts'

type FarKind = FarRecipe['kind'] | 'none'

const kinds: { value: FarKind; label: string }[] = [
  { value: 'none', label: 'The features themselves' },
  { value: 'heat', label: 'Heat map' },
  { value: 'hexagons', label: 'Hexagons' },
  { value: 'grid', label: 'Squares' },
  { value: 'clusters', label: 'Clusters' },
]

/** Of cities of the world, this shows countries as heat and regions as points. */
const usualBelow = 6
const usualClasses = 5

export const farFact = ({ far }: LayerRecipe): string =>
  far ? (kinds.find(({ value }) => value === far.kind)?.label.toLowerCase() ?? far.kind) : 'features'

export function FarSection({ recipe, attributes, change }: SectionProps): ReactElement {
  const { far } = recipe
  const set = (next: FarRecipe | null, of?: string) => change((now) => ({ ...now, far: next }), of)
  return (
    <>
      <Select<FarKind>
        label="Far out, show"
        value={far?.kind ?? 'none'}
        options={recipe.geometry === 'point' ? kinds : kinds.filter(({ value }) => value !== 'heat')}
        onChange={(kind) => set(kind === 'none' ? null : farOf(kind, recipe))}
      />
      {far && <BelowFields far={far} set={set} />}
      {far?.kind === 'heat' && <HeatFields recipe={recipe} heat={far} numbers={numbersOf(attributes)} set={set} />}
      {isCells(far) && <CellFields cells={far} numbers={numbersOf(attributes)} set={set} />}
      {far?.kind === 'clusters' && (
        <ColourField
          label="Colour of the clusters"
          value={far.colour}
          onChange={(colour) => set({ ...far, colour }, 'cluster colour')}
        />
      )}
    </>
  )
}

const numbersOf = (attributes: SectionProps['attributes']): string[] =>
  attributes.filter(({ type }) => isNumeric(type)).map(({ name }) => name)

function farOf(kind: FarRecipe['kind'], { far, colour }: LayerRecipe): FarRecipe {
  const below = far ? far.below : usualBelow
  if (kind === 'clusters') return { kind, below, colour: colour.kind === 'one' ? colour.colour : '#0b7285' }
  const ramp = { ramp: 'YlOrRd', isReversed: false } as const
  if (kind === 'heat') return { kind, below, weight: null, most: 1, radius: 24, ...ramp }
  return { kind, below, value: 'count', classes: usualClasses, breaks: [], ...ramp }
}

type Set = (next: FarRecipe, of?: string) => void

interface BelowFieldsProps {
  far: FarRecipe
  set: Set
}

function BelowFields({ far, set }: BelowFieldsProps): ReactElement {
  return (
    <>
      <Checkbox
        label="Close in, show the features"
        isChecked={far.below !== null}
        onChange={(isOn) => set({ ...far, below: isOn ? usualBelow : null })}
      />
      {far.below !== null && (
        <Slider
          label={`From zoom ${far.below}`}
          value={far.below}
          min={1}
          max={18}
          hint="0 is the whole world, 10 a city, 16 a street."
          onChange={(below) => set({ ...far, below }, 'far below')}
        />
      )}
    </>
  )
}

interface HeatFieldsProps {
  recipe: LayerRecipe
  heat: HeatRecipe
  numbers: readonly string[]
  set: Set
}

const each = ''

function HeatFields({ recipe, heat, numbers, set }: HeatFieldsProps): ReactElement {
  const { theme } = useEditor()
  const client = useClient()
  const queries = useQueryClient()
  const choose = useMutation({
    async mutationFn(weight: string) {
      if (weight === each) return set({ ...heat, weight: null, most: 1 })
      const { statistics } = await queries.fetchQuery(valuesQuery(client, recipe.datasetId, weight))
      const most = numberOf(statistics.max, statistics.type)
      if (!(most > 0)) throw new Error(`${weight} has no values above zero. Choose another attribute.`)
      set({ ...heat, weight, most })
    },
  })
  return (
    <>
      <Select
        label="Weight"
        value={choose.isPending ? choose.variables : (heat.weight ?? each)}
        options={[{ value: each, label: 'Each counts one' }, ...numbers]}
        onChange={(weight) => choose.mutate(weight)}
      />
      {choose.error && <ErrorNote error={choose.error} />}
      <Slider
        label={`Radius, ${heat.radius} px`}
        value={heat.radius}
        min={8}
        max={64}
        onChange={(radius) => set({ ...heat, radius }, 'heat radius')}
      />
      <RampChoice
        {...heat}
        count={usualClasses}
        theme={theme}
        kinds={['sequential']}
        onChange={(next) => set({ ...heat, ...next })}
      />
    </>
  )
}

interface CellFieldsProps {
  cells: CellsRecipe
  numbers: readonly string[]
  set: Set
}

const aggregates = ['sum', 'avg', 'min', 'max']

function CellFields({ cells, numbers, set }: CellFieldsProps): ReactElement {
  const { theme } = useEditor()
  const [, aggregate = 'count', attribute = ''] = /^(\w+)\((.*)\)$/s.exec(cells.value) ?? []
  const change = (next: Partial<CellsRecipe>, of?: string) => set({ ...cells, breaks: [], ...next }, of)
  const [first = ''] = numbers
  return (
    <>
      <Select
        label="Coloured by"
        value={aggregate}
        options={[
          { value: 'count', label: 'How many there are' },
          ...(first ? [{ value: 'sum', label: 'The sum of …' }] : []),
          ...(first ? [{ value: 'avg', label: 'The mean of …' }] : []),
          ...(first ? [{ value: 'min', label: 'The lowest …' }] : []),
          ...(first ? [{ value: 'max', label: 'The highest …' }] : []),
        ]}
        onChange={(name) => change({ value: aggregates.includes(name) ? `${name}(${attribute || first})` : 'count' })}
      />
      {aggregate !== 'count' && (
        <Select
          label="Attribute"
          value={attribute}
          options={numbers}
          onChange={(name) => change({ value: `${aggregate}(${name})` })}
        />
      )}
      <Slider
        label={`${cells.classes} classes`}
        value={cells.classes}
        min={2}
        max={10}
        onChange={(count) => change({ classes: count }, 'cell classes')}
      />
      <RampChoice
        {...cells}
        count={cells.classes}
        theme={theme}
        kinds={['sequential']}
        onChange={(next) => set({ ...cells, ...next })}
      />
      <p className={classes.hint}>Classes are made for each zoom from what is in view.</p>
    </>
  )
}
