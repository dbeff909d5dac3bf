/** The legend of a map. If it is editable, each label is a text field. */
import type { ReactElement } from 'react'
import classes from './legend.module.css'

export interface LegendItem {
  colour: string
  label: string
  shape: 'point' | 'line' | 'area'
  /** The diameter of a point or the width of a line, in pixels. */
  size?: number | undefined
}

export interface LegendProps {
  items: readonly LegendItem[]
  title?: string | undefined
  /** Makes the labels editable. */
  onLabelChange?: ((index: number, text: string) => void) | undefined
}

export function Legend({ items, title, onLabelChange }: LegendProps): ReactElement {
  // Aligns the labels with the largest symbol.
  const room = Math.max(16, ...items.map(({ shape, size = 0 }) => (shape === 'point' ? Math.min(size, maxPoint) : 0)))
  return (
    <figure className={classes.legend}>
      {title && <figcaption>{title}</figcaption>}
      <ul aria-label={title ?? 'Legend'}>
        {items.map((item, index) => (
          <li key={index}>
            <LegendSymbol item={item} room={room} />
            {onLabelChange ? (
              <input
                aria-label={`Label of class ${index + 1}`}
                value={item.label}
                onChange={(event) => onLabelChange(index, event.target.value)}
              />
            ) : (
              <span>{item.label}</span>
            )}
          </li>
        ))}
      </ul>
    </figure>
  )
}

const maxPoint = 40
const maxLine = 12

interface LegendSymbolProps {
  item: Pick<LegendItem, 'colour' | 'shape' | 'size'>
  room?: number
}

/** Drawn as on the map: a circle, a line or a square. */
export function LegendSymbol({ item: { colour, shape, size }, room = 16 }: LegendSymbolProps): ReactElement {
  const middle = room / 2
  const radius = Math.max(2, Math.min(size ?? 10, maxPoint) / 2)
  return (
    <svg
      aria-hidden="true"
      className={classes.symbol}
      width={room}
      height={shape === 'point' ? Math.max(16, radius * 2) : 16}
    >
      {shape === 'point' && <circle cx={middle} cy="50%" r={radius} fill={colour} className={classes.edge} />}
      {shape === 'line' && (
        <line x1="0" x2={room} y1="8" y2="8" stroke={colour} strokeWidth={Math.min(size ?? 3, maxLine)} />
      )}
      {shape === 'area' && <rect x="0.5" y="1.5" width={room - 1} height="13" fill={colour} className={classes.edge} />}
    </svg>
  )
}
