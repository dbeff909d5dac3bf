import { invalid } from '../../errors.ts'

const marker = /\{([a-z_]\w*)\}/gi

/** The names of the `{name}` markers in a template, each once. */
export function restMarkers(template: string): string[] {
  return [...new Set([...template.matchAll(marker)].map(([, name = '']) => name))]
}

/** Parameters choose what is asked for, never whom: scheme, host and port hold no marker. */
export function checkRestTemplate(template: string): void {
  const isFixed = /^https?:\/\/[^/?#\\{}\s]+(?:[/?#]|$)/i.test(template)
  if (!isFixed || !URL.canParse(template.replaceAll(marker, 'x'))) {
    throw invalid('body/source', 'must be an http or https address with {name} only after the host and port')
  }
}

/** The address with the parameters in it. Null becomes nothing. */
export function fillRestTemplate(template: string, parameters: Readonly<Record<string, string | null>>): string {
  checkRestTemplate(template)
  const filled = template.replaceAll(marker, (_, name: string) => {
    if (!Object.hasOwn(parameters, name)) throw invalid(`query/${name}`, 'is required')
    return encoded(name, parameters[name] ?? '')
  })
  const [path = ''] = filled.split(/[?#]/)
  // No encoding helps: the dots would be resolved, and the address would be another one.
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
