/** The legend of the visible layers, with texts that can be edited in place. */

import { legendsOf } from '@graticule/map/recipe'
import type { ReactElement } from 'react'
import { Legend } from '../../../map/legend.tsx'
import { useSeenMap } from '../../../map/use-seen-map.ts'
import { useEditor } from '../editor-context.tsx'
import classes from './visual-editor.module.css'

export function MapLegend(): ReactElement | null {
  const { recipes, theme, changeLayer } = useEditor()
  const seen = useSeenMap(recipes.layers, theme)
  const legends = legendsOf(recipes.layers, theme, undefined, seen)
  if (legends.length === 0) return null
  return (
    <details open={!isNarrow()} className={classes.legend}>
      <summary>Legend</summary>
      {legends.map(({ id, title, items }) => (
        <Legend
          key={id}
          title={title}
          items={items}
          onLabelChange={(index, text) => {
            const key = items[index]?.key
            if (key !== undefined)
              changeLayer(
                id,
                ({ texts, ...recipe }) => ({ ...recipe, texts: withText(texts, key, text) }),
                `text ${key}`,
              )
          }}
        />
      ))}
    </details>
  )
}

/** On phones the legend is collapsed, because it would cover the map. */
const isNarrow = (): boolean => matchMedia('(max-width: 700px)').matches

/** Sets a custom text; an empty one restores the generated text. */
export function withText(texts: Record<string, string>, key: string, text: string): Record<string, string> {
  const { [key]: _, ...others } = texts
  return text === '' ? others : { ...others, [key]: text }
}
