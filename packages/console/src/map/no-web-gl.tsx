/** What stands in place of a map where the browser cannot draw one. */
import type { ReactElement } from 'react'
import { Empty } from '../components/note.tsx'

export const hasWebGl: boolean = document.createElement('canvas').getContext('webgl2') !== null

export function NoWebGl(): ReactElement {
  return (
    <Empty title="This browser cannot draw maps">
      <p>
        Maps need WebGL 2, which is switched off here or which the graphics card does not offer. Switch on hardware
        acceleration in the browser’s settings, or use another browser. Everything else works.
      </p>
    </Empty>
  )
}
