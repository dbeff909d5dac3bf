/// <reference lib="dom" />
import type { Theme } from '../theme.ts'

/** Of controls over a map. */
export const controlColours: Readonly<Record<Theme, Partial<CSSStyleDeclaration>>> = {
  light: { background: '#ffffffee', color: '#24292e' },
  dark: { background: '#12161dee', color: '#eef1f4' },
}
