/** The attribute whose periods readers can go through. Its steps are stored with the map, because readers may not ask for statistics. */
import { type Attribute, isTimeType, type TimeRange } from '@graticule/map/recipe'
import { useMutation } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { ErrorNote } from '../../../components/error-note.tsx'
import { Segmented, Select } from '../../../components/field.tsx'
import { useClient } from '../../../session/session.tsx'
import { useEditor } from '../editor-context.tsx'
import { withTimeTool } from '../recipe/time-tool.ts'
import classes from './panel.module.css'
import type { SectionProps } from './section.ts'

const nothing = ''
const maxSteps = 60

export const hasTimes = (attributes: readonly Attribute[]): boolean => attributes.some(({ type }) => isTimeType(type))

export function TimeSection({ recipe, attributes, change }: SectionProps): ReactElement {
  const client = useClient()
  const { changeRecipes } = useEditor()
  const { time } = recipe
  const set = (next: TimeRange | null) => {
    change((now) => ({ ...now, time: next }))
    if (next) changeRecipes(withTimeTool)
  }
  const choose = useMutation({
    async mutationFn(name: string) {
      const type = attributes.find((one) => one.name === name)?.type
      if (type === undefined || !isTimeType(type)) return set(null)
      const { histogram } = await client.datasets.statistics(recipe.datasetId, name, { bins: maxSteps })
      const steps = histogram.map(({ from, to, count }) => ({ from: String(from), to: String(to), count }))
      if (steps.length === 0) throw new Error(`${name} has no times. Choose another attribute.`)
      set({ attribute: name, type, steps, show: time?.show ?? 'step' })
    },
  })
  return (
    <>
      <Select
        label="Readers go through"
        value={choose.isPending ? choose.variables : (time?.attribute ?? nothing)}
        options={[
          { value: nothing, label: 'Nothing' },
          ...attributes.filter(({ type }) => isTimeType(type)).map(({ name }) => name),
        ]}
        onChange={(name) => choose.mutate(name)}
      />
      {choose.error && <ErrorNote error={choose.error} />}
      {time && (
        <>
          <Segmented<TimeRange['show']>
            label="What a step shows"
            value={time.show}
            options={[
              { value: 'step', label: 'Its period' },
              { value: 'until', label: 'All until then' },
            ]}
            onChange={(show) => set({ ...time, show })}
          />
          <p className={classes.hint}>
            {time.steps.length} steps, as the data are now. The shared map has the slider; the editor shows all times.
          </p>
        </>
      )}
    </>
  )
}
