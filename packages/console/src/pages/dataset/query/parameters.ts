/** The dataset's parameters: those declared in its metadata, and the placeholders in its source. */
import type { Dataset } from '@graticule/client'

export interface DatasetParameter {
  name: string
  type: string
  isRequired: boolean
  preset: string
  description: string
}

export function parametersOf({ type, source, metadata }: Pick<Dataset, 'type' | 'source' | 'metadata'>) {
  const declared = Array.isArray(metadata.parameters) ? metadata.parameters.map(declaredParameter) : []
  const markers = type === 'sql' ? sqlMarkers(source) : type === 'rest' ? restMarkers(source) : []
  const others = markers
    .filter((name) => !declared.some((one) => one.name === name))
    .map((name): DatasetParameter => ({ name, type: 'string', isRequired: true, preset: '', description: '' }))
  // Functions get all declared parameters; for other types, parameters without a placeholder have no effect.
  return [...declared.filter(({ name }) => type === 'lambda' || markers.includes(name)), ...others]
}

function declaredParameter(item: unknown): DatasetParameter {
  const { name, type = 'string', default: preset, required, description } = (item ?? {}) as Record<string, unknown>
  return {
    name: String(name),
    type: String(type),
    isRequired: required === undefined ? preset === undefined : required === true,
    preset: preset === undefined || preset === null ? '' : String(preset),
    description: typeof description === 'string' ? description : '',
  }
}

const quotedOrComment = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\//g

/** `:name` outside of quotes and comments; `::int` is a cast, `a[1:n]` a slice. */
function sqlMarkers(sql: string): string[] {
  const bare = sql.replaceAll(quotedOrComment, ' ')
  return [...new Set([...bare.matchAll(/(?<![:\w\])]):([A-Za-z_]\w*)/g)].map(([, name = '']) => name))]
}

/** `{name}` in an address. */
const restMarkers = (address: string): string[] => [
  ...new Set([...address.matchAll(/\{([a-z_]\w*)\}/gi)].map(([, name = '']) => name)),
]
