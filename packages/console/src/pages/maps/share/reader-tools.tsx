/** What readers of the map can do besides moving it: part of the map, and so of all its links. */
import { type MapTool, mapTools, usualTools } from '@graticule/map/recipe'
import type { ReactElement } from 'react'
import { Checkbox } from '../../../components/field.tsx'
import { layout } from '../../../components/page.tsx'
import { useEditor } from '../editor-context.tsx'
import classes from './share-tab.module.css'

const labels: Record<MapTool, string> = {
  search: 'Search for places',
  fullscreen: 'Fill the screen',
  locate: 'Show where they are',
  measure: 'Measure distances and areas',
  time: 'Move through time',
}

export function ReaderTools(): ReactElement {
  const { recipes, changeRecipes } = useEditor()
  const chosen = recipes.tools ?? usualTools
  const hasTime = recipes.layers.some(({ time }) => time)
  const set = (tool: MapTool, isOn: boolean) =>
    changeRecipes((now) => ({
      ...now,
      tools: mapTools.filter((one) => (one === tool ? isOn : (now.tools ?? usualTools).includes(one))),
    }))
  return (
    <section className={layout.section}>
      <h2>What readers can do</h2>
      <fieldset className={classes.tools}>
        <legend className="visually-hidden">What readers can do</legend>
        {mapTools.map((tool) => (
          <Checkbox
            key={tool}
            label={labels[tool]}
            isChecked={chosen.includes(tool) && (tool !== 'time' || hasTime)}
            disabled={tool === 'time' && !hasTime}
            onChange={(isOn) => set(tool, isOn)}
          />
        ))}
      </fieldset>
      {!hasTime && (
        <p className={classes.none}>To move through time, choose an attribute under Time in the look of a layer.</p>
      )}
    </section>
  )
}
