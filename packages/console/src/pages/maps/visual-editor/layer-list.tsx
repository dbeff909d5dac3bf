/** The list of layers, topmost first, and the base map. */

import { type LayerRecipe, legendItems } from '@graticule/map/recipe'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { Button, IconButton } from '../../../components/button.tsx'
import { Menu } from '../../../components/popup/menu.tsx'
import { LegendSymbol } from '../../../map/legend.tsx'
import { useClient } from '../../../session/session.tsx'
import { useEditor } from '../editor-context.tsx'
import { tileDescriptionQuery } from '../styles-query.ts'
import { AddDataset } from './add-dataset.tsx'
import { BaseMap } from './base-map.tsx'
import { MapFields } from './map-fields.tsx'
import classes from './visual-editor.module.css'

interface LayerListProps {
  chosen: string | undefined
  onChoose(id: string): void
}

export function LayerList({ chosen, onChoose }: LayerListProps): ReactElement {
  const { recipes, changeRecipes } = useEditor()
  const [isAdding, setAdding] = useState(false)
  const [dragged, setDragged] = useState<string | null>(null)
  const [over, setOver] = useState<string | null>(null)
  const drop = (target: string) => {
    if (dragged) changeRecipes((now) => ({ ...now, layers: movedBefore(now.layers, dragged, target) }))
    setDragged(null)
    setOver(null)
  }
  return (
    <div className={classes.layers}>
      <MapFields />
      <h2>Layers</h2>
      {recipes.layers.length === 0 && (
        <p className={classes.hint}>Nothing lies on the base map yet. Add a dataset to show its data.</p>
      )}
      <ul aria-label="Layers, the topmost first">
        {recipes.layers.map((layer) => (
          <li
            key={layer.id}
            draggable
            onDragStart={() => setDragged(layer.id)}
            onDragEnd={() => setOver(null)}
            onDragOver={(event) => {
              event.preventDefault()
              setOver(layer.id)
            }}
            onDrop={() => drop(layer.id)}
          >
            <LayerRow layer={layer} isChosen={layer.id === chosen} isOver={over === layer.id} onChoose={onChoose} />
          </li>
        ))}
      </ul>
      <Button icon="plus" onClick={() => setAdding(true)}>
        Add dataset
      </Button>
      <BaseMap />
      <AddDataset isOpen={isAdding} onClose={() => setAdding(false)} onAdded={onChoose} />
    </div>
  )
}

interface LayerRowProps {
  layer: LayerRecipe
  isChosen: boolean
  isOver: boolean
  onChoose(id: string): void
}

function LayerRow({ layer, isChosen, isOver, onChoose }: LayerRowProps): ReactElement {
  const { theme, changeLayer } = useEditor()
  const [symbol] = legendItems(layer, theme)
  return (
    <div
      className={`${classes.layerRow} ${layer.isHidden ? classes.hidden : ''}`}
      data-chosen={isChosen}
      data-over={isOver}
    >
      <button type="button" aria-pressed={isChosen} onClick={() => onChoose(layer.id)}>
        {symbol && <LegendSymbol item={{ ...symbol, size: undefined }} />}
        <span className={classes.layerName} title={layer.name}>
          {layer.name}
        </span>
      </button>
      <IconButton
        icon={layer.isHidden ? 'eyeOff' : 'eye'}
        label={layer.isHidden ? `Show ${layer.name}` : `Hide ${layer.name}`}
        onClick={() => changeLayer(layer.id, (now) => ({ ...now, isHidden: !now.isHidden }))}
      />
      <LayerMenu layer={layer} onChoose={onChoose} />
    </div>
  )
}

interface LayerMenuProps {
  layer: LayerRecipe
  onChoose(id: string): void
}

function LayerMenu({ layer, onChoose }: LayerMenuProps): ReactElement {
  const { recipes, changeRecipes, map } = useEditor()
  const client = useClient()
  const queries = useQueryClient()
  const index = recipes.layers.indexOf(layer)
  const move = (by: number) => changeRecipes((now) => ({ ...now, layers: movedBy(now.layers, layer.id, by) }))
  const zoomTo = async () => {
    const { bounds } = await queries.ensureQueryData(tileDescriptionQuery(client, layer.tilesId))
    if (bounds) map.current?.fit(bounds, { padding: 32, maxDuration: 800 })
  }
  const duplicate = () => {
    const id = `data-${Math.max(...recipes.layers.map((one) => Number(/\d+$/.exec(one.id)?.[0] ?? 0))) + 1}`
    changeRecipes((now) => ({
      ...now,
      layers: now.layers.toSpliced(index, 0, { ...layer, id, name: `${layer.name} copy` }),
    }))
    onChoose(id)
  }
  return (
    <Menu
      trigger={<IconButton icon="more" label={`More for ${layer.name}`} />}
      items={[
        { label: 'Zoom to the data', icon: 'locate', onSelect: () => void zoomTo() },
        {
          label: 'Move up',
          icon: 'chevronUp',
          disabledReason: index === 0 ? 'It is the topmost.' : undefined,
          onSelect: () => move(-1),
        },
        {
          label: 'Move down',
          icon: 'chevronDown',
          disabledReason: index === recipes.layers.length - 1 ? 'It is the lowest.' : undefined,
          onSelect: () => move(1),
        },
        { label: 'Duplicate', icon: 'copy', onSelect: duplicate },
        '-',
        {
          label: 'Remove',
          icon: 'trash',
          isDanger: true,
          onSelect: () => changeRecipes((now) => ({ ...now, layers: now.layers.filter(({ id }) => id !== layer.id) })),
        },
      ]}
    />
  )
}

function movedBy(layers: readonly LayerRecipe[], id: string, by: number): LayerRecipe[] {
  const index = layers.findIndex((layer) => layer.id === id)
  const moved = layers[index]
  return moved ? layers.toSpliced(index, 1).toSpliced(index + by, 0, moved) : [...layers]
}

function movedBefore(layers: readonly LayerRecipe[], id: string, target: string): LayerRecipe[] {
  const moved = layers.find((layer) => layer.id === id)
  if (!moved || id === target) return [...layers]
  const isDown = layers.indexOf(moved) < layers.findIndex((layer) => layer.id === target)
  const others = layers.filter((layer) => layer !== moved)
  return others.toSpliced(others.findIndex((layer) => layer.id === target) + (isDown ? 1 : 0), 0, moved)
}
