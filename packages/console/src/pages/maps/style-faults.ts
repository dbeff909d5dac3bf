/** Validates the JSON text of a style. */
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec'

export interface StyleFault {
  path?: string
  message: string
  severity: 'error'
}

export interface CheckedStyle {
  /** Only if there are no errors. */
  style?: StyleSpecification
  faults: StyleFault[]
}

type Validate = (style: StyleSpecification) => readonly { message: string }[]

const notAStyle = 'A style is an object such as {"version": 8, "sources": {}, "layers": []}.'

export function styleFaults(text: string, validate: Validate): CheckedStyle {
  const value = parsed(text)
  // The editor itself marks the position of a syntax error.
  if (value === undefined) return { faults: [{ message: 'This is not valid JSON yet.', severity: 'error' }] }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { faults: [{ message: notAStyle, severity: 'error' }] }
  const style = value as StyleSpecification
  try {
    const faults = validate(style).map(({ message }) => faultOf(message))
    return faults.length > 0 ? { faults } : { style, faults }
  } catch {
    // The validator throws for some values that are not styles.
    return { faults: [{ message: notAStyle, severity: 'error' }] }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Splits the path from a message such as `layers[0].type: expected …`. */
function faultOf(text: string): StyleFault {
  const [, path, message = text] = /^([\w$[\].-]+): (.*)$/s.exec(text) ?? []
  return { ...(path && { path }), message, severity: 'error' }
}
