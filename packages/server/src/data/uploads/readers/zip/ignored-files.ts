/** Files of an archive that are not read, told in a warning of its first layer. */
import type { Reader, ScannedLayer, Warning } from '../reader.ts'
import { quoted } from './entry.ts'

const shownNames = 10

const companions =
  /\.(prj|qpj|cpg|wkt|xml|xsd|html?|md|rst|csvt|vrt|qml|qmd|sld|lyrx?|style|png|jpe?g|gif|svg|webp|css|js|dae|ttf)$/i
const notes = /(^|\/)[^/]*(readme|licen[cs]e|copying|attribution|copyright|changelog|lies.?mich|lizenz)[^/]*$/i

/** Whether a file belongs to another, or says something about it, and holds no features. */
const isCompanion = (name: string): boolean => companions.test(name) || notes.test(name)

/** The same reader, which tells of the files that it passes over. */
export function tellIgnored(reader: Reader, ignored: readonly string[]): Reader {
  const names = ignored.filter((name) => !isCompanion(name))
  return names.length === 0 ? reader : withWarning(reader, warningOf(names))
}

function warningOf(names: readonly string[]): Warning {
  const more = names.length > shownNames ? ` and ${names.length - shownNames} more` : ''
  const shown = `${names.slice(0, shownNames).map(quoted).join(', ')}${more}`
  return {
    code: 'files_ignored',
    message: `These files of the archive were not read, because they are not known to hold data: ${shown}.`,
  }
}

function withWarning(reader: Reader, warning: Warning): Reader {
  const told = async (layer: ScannedLayer): Promise<ScannedLayer> => {
    const [first] = await reader.layers()
    return layer.name === first ? { ...layer, warnings: [...layer.warnings, warning] } : layer
  }
  return {
    ...reader,
    scan: async (name, options) => told(await reader.scan(name, options)),
    guess: async (name, options) => {
      const layer = await reader.guess(name, options)
      return layer && told(layer)
    },
    async *load(name, columns, options) {
      const loaded = yield* reader.load(name, columns, options)
      return { ...loaded, layer: await told(loaded.layer) }
    },
  }
}
