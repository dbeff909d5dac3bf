/// <reference lib="dom" />
/** Detects whether a style is light or dark: from its metadata, otherwise from the luminance of its background. */
import type { StyleSpecification } from 'maplibre-gl'

export type Theme = 'light' | 'dark'

/** Half of the perceived lightness (L* = 50) is a relative luminance of 0.18. */
const darkBelow = 0.18

export function themeOf({ metadata, layers }: Pick<StyleSpecification, 'metadata' | 'layers'>): Theme {
  const theme = (metadata as { theme?: unknown } | undefined)?.theme
  if (theme === 'light' || theme === 'dark') return theme
  const background = layers.find(({ type }) => type === 'background')
  const luminance = luminanceOf(
    firstColour(background?.paint && (background.paint as Record<string, unknown>)['background-color']),
  )
  return luminance !== undefined && luminance < darkBelow ? 'dark' : 'light'
}

/** The first colour of a value; expressions may have several, one per zoom, any of which will do. */
function firstColour(value: unknown): string | undefined {
  if (typeof value === 'string') return CSS.supports('color', value) ? value : undefined
  const parts = Array.isArray(value) ? value : Object.values((value as object | undefined) ?? {})
  for (const part of parts) {
    const colour = typeof part === 'string' || typeof part === 'object' ? firstColour(part) : undefined
    if (colour) return colour
  }
  return undefined
}

/** Lets the browser parse the colour, so that every CSS notation works. */
function luminanceOf(colour: string | undefined): number | undefined {
  const canvas = document.createElement('canvas')
  canvas.width = 1
  canvas.height = 1
  const context = canvas.getContext('2d')
  if (!colour || !context) return undefined
  context.fillStyle = colour
  context.fillRect(0, 0, 1, 1)
  const [red = 0, green = 0, blue = 0, alpha = 0] = context.getImageData(0, 0, 1, 1).data
  return alpha === 0 ? undefined : 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

/** From sRGB to linear light. */
function linear(channel: number): number {
  const value = channel / 255
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
}
