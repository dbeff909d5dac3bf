/** The colours of a layer: a single one, or by the values of an attribute. */

import {
  type Attribute,
  type Colouring,
  type ColourKind,
  colourKinds,
  defaultCategories,
  defaultGraduated,
  isByValue,
  type LayerRecipe,
  type Theme,
} from '@graticule/map/recipe'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { ErrorNote } from '../../../../components/error-note.tsx'
import { Segmented, Select } from '../../../../components/field.tsx'
import { Note, Skeleton } from '../../../../components/note.tsx'
import { useClient } from '../../../../session/session.tsx'
import { useEditor } from '../../editor-context.tsx'
import { type AttributeValues, valuesQuery } from '../../styles-query.ts'
import classes from '../panel.module.css'
import { CategoriesPanel } from './categories-panel.tsx'
import { ColourField } from './colour-field.tsx'
import { GraduatedPanel } from './graduated-panel.tsx'

const uncolourable = new Set(['geometry', 'binary', 'json', 'array'])
const nothing = ''

interface ColourPanelProps {
  recipe: LayerRecipe
  attributes: readonly Attribute[]
}

export function ColourPanel({ recipe, attributes }: ColourPanelProps): ReactElement {
  const { changeLayer, theme } = useEditor()
  const { colour } = recipe
  const set = (next: Colouring, of?: string) => changeLayer(recipe.id, (now) => withColour(now, next), of)
  const choose = useChooseAttribute(recipe, theme, set)
  const chosen = choose.isPending ? choose.variables : isByValue(colour) ? colour.attribute : nothing
  return (
    <div className={classes.section}>
      <Select
        label="Colour by"
        value={chosen}
        options={[
          { value: nothing, label: 'One colour for all' },
          ...attributes
            .filter(({ type }) => !uncolourable.has(type))
            .map(({ name, type }) => ({ value: name, label: `${name} (${type})` })),
        ]}
        onChange={(attribute) => choose.mutate(attribute)}
      />
      {choose.isPending && chosen !== nothing && (
        <>
          <p className={classes.hint}>Reading the values of {chosen} …</p>
          <Skeleton height={120} />
        </>
      )}
      {choose.error && <ErrorNote error={choose.error} onRetry={() => choose.mutate(choose.variables)} />}
      {!choose.isPending && <Chosen recipe={recipe} set={set} />}
    </div>
  )
}

/** Changes the colouring. Another kind drops the custom legend texts, which belong to the previous classes. */
function withColour(recipe: LayerRecipe, colour: Colouring): LayerRecipe {
  const isSameKind = recipe.colour.kind === colour.kind
  const { title } = recipe.texts
  return { ...recipe, colour, texts: isSameKind ? recipe.texts : title === undefined ? {} : { title } }
}

/** Loads the attribute's values and selects the colouring that suits them best. */
function useChooseAttribute(recipe: LayerRecipe, theme: Theme, set: (next: Colouring) => void) {
  const client = useClient()
  const queries = useQueryClient()
  return useMutation({
    async mutationFn(attribute: string) {
      if (attribute === nothing) return set({ kind: 'one', colour: firstColour(recipe.colour) })
      const values = await queries.fetchQuery(valuesQuery(client, recipe.datasetId, attribute))
      const [best = 'one'] = colourKinds(values.statistics).filter((kind) => kind !== 'one')
      if (best === 'one') throw new Error(`All values of ${attribute} are empty, so there is nothing to colour by.`)
      set(colouringOf(best, values, theme))
    },
  })
}

function firstColour(colour: Colouring): string {
  if (colour.kind === 'one') return colour.colour
  return colour.kind === 'categories' ? (colour.categories[0]?.colour ?? '#0b7285') : '#0b7285'
}

function colouringOf(kind: Exclude<ColourKind, 'one'>, values: AttributeValues, theme: Theme): Colouring {
  return kind === 'categories'
    ? defaultCategories(values.statistics, theme)
    : defaultGraduated(values.statistics, values.distribution, theme)
}

interface ChosenProps {
  recipe: LayerRecipe
  set(next: Colouring, of?: string): void
}

function Chosen({ recipe, set }: ChosenProps): ReactElement {
  const { colour } = recipe
  if (colour.kind === 'one') {
    return (
      <ColourField
        label="Colour"
        value={colour.colour}
        onChange={(next) => set({ kind: 'one', colour: next }, 'colour')}
      />
    )
  }
  return <ByValue recipe={recipe} attribute={colour.attribute} set={set} />
}

const kindTexts = { graduated: 'Graduated', categories: 'Categories' }

interface ByValueProps {
  recipe: LayerRecipe
  attribute: string
  set(next: Colouring, of?: string): void
}

function ByValue({ recipe, attribute, set }: ByValueProps): ReactElement {
  const { theme } = useEditor()
  const client = useClient()
  const { data: values, error, refetch } = useQuery(valuesQuery(client, recipe.datasetId, attribute))
  const { colour } = recipe
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />
  if (!values || colour.kind === 'one') return <Skeleton height={120} />
  const kinds = colourKinds(values.statistics).filter((kind) => kind !== 'one')
  return (
    <>
      {kinds.length > 1 && (
        <Segmented
          label="How values are coloured"
          value={colour.kind}
          options={(['graduated', 'categories'] as const).map((kind) => ({ value: kind, label: kindTexts[kind] }))}
          onChange={(kind) => set(colouringOf(kind, values, theme))}
        />
      )}
      {colour.kind === 'graduated' ? (
        <GraduatedPanel graduated={colour} values={values} set={set} />
      ) : (
        <CategoriesPanel categories={colour} statistics={values.statistics} set={set} />
      )}
      {values.statistics.count === 0 && <Note kind="warn">This attribute has no values.</Note>}
    </>
  )
}
