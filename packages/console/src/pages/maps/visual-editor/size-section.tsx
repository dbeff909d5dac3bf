/** The size of points or width of lines: constant, or by the values of an attribute. */

import { isNumeric, numberOf, type Sizing } from '@graticule/map/recipe'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { ErrorNote } from '../../../components/error-note.tsx'
import { Select, Slider, TextField } from '../../../components/field.tsx'
import { useClient } from '../../../session/session.tsx'
import { valuesQuery } from '../styles-query.ts'
import { ColourField } from './colours/colour-field.tsx'
import classes from './panel.module.css'
import type { SectionProps } from './section.ts'

const allAlike = ''

export function SizeSection(props: SectionProps): ReactElement {
  const { geometry } = props.recipe
  return (
    <>
      {geometry !== 'area' && <SizeFields {...props} />}
      {geometry !== 'line' && <StrokeFields {...props} />}
    </>
  )
}

function SizeFields({ recipe, attributes, change }: SectionProps): ReactElement {
  const { size, geometry } = recipe
  const client = useClient()
  const queries = useQueryClient()
  const set = (next: Partial<Sizing>, of?: string) => change((now) => ({ ...now, size: { ...now.size, ...next } }), of)
  const choose = useMutation({
    async mutationFn(attribute: string) {
      if (attribute === allAlike) return set({ attribute: null })
      const { statistics } = await queries.fetchQuery(valuesQuery(client, recipe.datasetId, attribute))
      const [low, high] = [statistics.min, statistics.max].map((end) => numberOf(end, statistics.type))
      set({ attribute, domain: [Math.max(low ?? 0, 0), Math.max(high ?? 1, 0)] })
    },
  })
  const numbers = attributes.filter(({ type }) => isNumeric(type))
  const what = geometry === 'line' ? 'Width' : 'Radius'
  return (
    <>
      <Select
        label="Size by"
        value={size.attribute ?? allAlike}
        options={[
          { value: allAlike, label: 'All the same size' },
          ...numbers.map(({ name }) => ({ value: name, label: name })),
        ]}
        onChange={(attribute) => choose.mutate(attribute)}
      />
      {choose.error && <ErrorNote error={choose.error} />}
      {size.attribute === null ? (
        <Slider
          label={`${what}, ${size.value} px`}
          value={size.value}
          min={0.5}
          max={24}
          step={0.5}
          onChange={(value) => set({ value }, 'size')}
        />
      ) : (
        <ByValueFields size={size} what={what} set={set} />
      )}
    </>
  )
}

interface ByValueFieldsProps {
  size: Sizing
  what: string
  set(next: Partial<Sizing>, of?: string): void
}

function ByValueFields({ size: { range, domain }, what, set }: ByValueFieldsProps): ReactElement {
  return (
    <>
      <Slider
        label={`Smallest ${what.toLowerCase()}, ${range[0]} px`}
        value={range[0]}
        min={0}
        max={20}
        step={0.5}
        onChange={(value) => set({ range: [value, Math.max(value, range[1])] }, 'size range')}
      />
      <Slider
        label={`Largest ${what.toLowerCase()}, ${range[1]} px`}
        value={range[1]}
        min={1}
        max={60}
        step={0.5}
        onChange={(value) => set({ range: [Math.min(value, range[0]), value] }, 'size range')}
      />
      <div className={classes.row}>
        <TextField
          label="Lowest value"
          type="number"
          value={String(domain[0])}
          onChange={(text) =>
            Number.isFinite(Number(text)) && set({ domain: [Number(text), domain[1]] }, 'size domain')
          }
        />
        <TextField
          label="Highest value"
          type="number"
          value={String(domain[1])}
          onChange={(text) =>
            Number.isFinite(Number(text)) && set({ domain: [domain[0], Number(text)] }, 'size domain')
          }
        />
      </div>
    </>
  )
}

function StrokeFields({ recipe, change }: Pick<SectionProps, 'recipe' | 'change'>): ReactElement {
  const { stroke } = recipe
  return (
    <>
      <Slider
        label={`Outline, ${stroke.width} px`}
        value={stroke.width}
        min={0}
        max={6}
        step={0.25}
        onChange={(width) => change((now) => ({ ...now, stroke: { ...now.stroke, width } }), 'stroke')}
      />
      <ColourField
        label="Colour of the outline"
        value={stroke.colour}
        onChange={(colour) => change((now) => ({ ...now, stroke: { ...now.stroke, colour } }), 'stroke colour')}
      />
    </>
  )
}
