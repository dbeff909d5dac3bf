// URL templates with `{name}` markers.
import { invalid } from '../../../kernel/errors.ts'

const marker = /\{([a-z_]\w*)\}/gi

/** The distinct marker names of a template. */
export function restMarkers(template: string): string[] {
  return [...new Set([...template.matchAll(marker)].map(([, name = '']) => name))]
}

/** No markers in scheme, host and port, so that parameters cannot choose another server. */
export function checkRestTemplate(template: string): void {
  const isFixed = /^https?:\/\/[^/?#\\{}\s]+(?:[/?#]|$)/i.test(template)
  if (!isFixed || !URL.canParse(template.replaceAll(marker, 'x'))) {
    throw invalid('body/source', 'must be an http or https address with {name} only after the host and port')
  }
}

/** The URL with its parameters filled in. Null becomes an empty text. */
export function fillRestTemplate(template: string, parameters: Readonly<Record<string, string | null>>): string {
  checkRestTemplate(template)
  const filled = template.replaceAll(marker, (_, name: string) => {
    if (!Object.hasOwn(parameters, name)) throw invalid(`query/${name}`, 'is required')
    return encoded(name, parameters[name] ?? '')
  })
  const [path = ''] = filled.split(/[?#]/)
  // Refuse dot segments: they are resolved even when encoded, and would change the path.
  if (/[/\\](?:\.|%2e){1,2}(?:[/\\]|$)/i.test(path)) {
    throw invalid('query', 'must not make the path of the source hold "." or ".." as a segment')
  }
  return filled.replace(/#.*$/s, '')
}

function encoded(name: string, value: string): string {
  try {
    return encodeURIComponent(value)
  } catch {
    throw invalid(`query/${name}`, 'must be valid Unicode')
  }
}
