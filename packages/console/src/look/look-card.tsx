/** Lies over a map: how a dataset is drawn, its legend, and how to change or undo each choice. */
import type { Dataset } from '@graticule/client'
import type { GraticuleMap } from '@graticule/map'
import { geometryOf, isNumeric, type RecipeLegend } from '@graticule/map/recipe'
import { type ReactElement, useCallback, useRef, useSyncExternalStore } from 'react'
import { Button, IconButton } from '../components/button.tsx'
import { Legend } from '../map/legend.tsx'
import classes from './look.module.css'
import { type DatasetLook, isUsable } from './telling-attribute.ts'
import type { LookAccess } from './use-look.ts'

export interface LookCardProps extends LookAccess {
  dataset: Pick<Dataset, 'name' | 'attributes'>
  /** The id of its source. */
  sourceId: string
  map: GraticuleMap | null
}

export function LookCard({ dataset, sourceId, map, look, isChosen, choose }: LookCardProps): ReactElement {
  const legend = useLegends(map).find(({ id }) => id === sourceId)
  const isPoints = geometryOf(dataset) === 'point'
  const usable = dataset.attributes.filter(isUsable)
  const numbers = usable.filter(({ type }) => isNumeric(type))
  return (
    <details open={map !== null && !isNarrow(map)} className={classes.card} aria-label={`Look of ${dataset.name}`}>
      <summary>{dataset.name}</summary>
      {legend && <Legend items={legend.items} />}
      <Choice
        label="Colour by"
        options={[
          ['', 'One colour'],
          ...(isPoints ? [[heat, 'Heat map'] as const] : []),
          ...usable.map(({ name }) => [attributeKey(name), name] as const),
        ]}
        selected={look.isHeat ? heat : look.colour === null ? '' : attributeKey(look.colour)}
        undo="Draw in one colour"
        onChange={(chosen) => choose(withColour(look, chosen))}
      />
      {isPoints && !look.isHeat && (
        <Choice
          label="Size by"
          options={[['', 'One size'], ...numbers.map(({ name }) => [attributeKey(name), name] as const)]}
          selected={look.size === null ? '' : attributeKey(look.size)}
          undo="Draw in one size"
          onChange={(chosen) => choose({ ...look, size: chosen === '' ? null : chosen.slice(1) })}
        />
      )}
      {isChosen && (
        <Button variant="ghost" icon="undo" onClick={() => choose(undefined)}>
          As suggested
        </Button>
      )}
    </details>
  )
}

/** An attribute may be called like anything. */
const attributeKey = (name: string): string => `=${name}`
const heat = 'heat'

function withColour(look: DatasetLook, chosen: string): DatasetLook {
  if (chosen === heat) return { colour: null, size: null, isHeat: true }
  return { ...look, isHeat: false, colour: chosen === '' ? null : chosen.slice(1) }
}

interface ChoiceProps {
  label: string
  selected: string
  options: (readonly [value: string, label: string])[]
  /** What the button beside it does. */
  undo: string
  onChange(value: string): void
}

function Choice({ label, selected, options, undo, onChange }: ChoiceProps): ReactElement {
  return (
    <div className={classes.choice}>
      <label>
        <span>{label}</span>
        <select value={selected} onChange={({ target }) => onChange(target.value)}>
          {options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      {selected !== '' && <IconButton icon="close" label={undo} onClick={() => onChange('')} />}
    </div>
  )
}

const noLegends: RecipeLegend[] = []

/** The legends of the map's sources, which are known after their statistics. */
function useLegends(map: GraticuleMap | null): RecipeLegend[] {
  const last = useRef<{ map: GraticuleMap | null; legends: RecipeLegend[] }>({ map: null, legends: noLegends })
  const subscribe = useCallback(
    (listener: () => void) => {
      const read = () => {
        last.current = { map, legends: map?.legends() ?? noLegends }
        listener()
      }
      read()
      map?.addEventListener('legendchange', read)
      return () => map?.removeEventListener('legendchange', read)
    },
    [map],
  )
  return useSyncExternalStore(subscribe, () => (last.current.map === map ? last.current.legends : noLegends))
}

/** On small maps it is collapsed, because it would cover them. */
const isNarrow = ({ gl }: GraticuleMap): boolean =>
  matchMedia('(max-width: 900px)').matches || gl.getContainer().clientWidth < 480
