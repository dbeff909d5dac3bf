/** An icon in the colour of the surrounding text. Use it next to text, or in an `IconButton`, which has a label. */
import { createElement, type ReactElement } from 'react'
import { type IconName, icons, type Shape } from './icons.ts'

interface IconProps {
  name: IconName
  size?: number
}

export function Icon({ name, size = 16 }: IconProps): ReactElement {
  const shapes: readonly Shape[] = icons[name]
  return (
    <svg
      aria-hidden="true"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      {shapes.map((shape) =>
        typeof shape === 'string' ? (
          <path key={shape} d={shape} />
        ) : (
          createElement(shape[0], { ...shape[1], key: JSON.stringify(shape) })
        ),
      )}
    </svg>
  )
}
