/** The time of data sources, for the slider: its steps are the bins of a histogram of the first one's dataset. */
import type { AttributeStatistics } from '@graticule/client'
import type { GraticuleMap } from '../graticule-map.ts'
import { isName } from '../map-client.ts'
import type { TimeStep } from '../recipe/recipe.ts'
import type { DataSource } from '../source/data-source.ts'
import { lastOf, type TimeControlOptions, type TimeSubject } from './time-control.ts'

const usualSteps = 60

export function timeOfSources(map: GraticuleMap, options: TimeControlOptions): TimeSubject {
  const ids = [options.source].flat()
  const sources = (): DataSource[] => ids.flatMap((id) => map.getSource(id) ?? [])
  let type = 'datetime'
  return {
    async steps() {
      const [source] = sources()
      if (!source) throw new Error(`source: the map has no data source "${ids[0]}".`)
      const found = await statisticsOf(source, options)
      type = found.type
      const steps = stepsOf(found)
      if (steps.length === 0) throw new Error(`attribute: "${found.attribute}" has no times.`)
      return steps
    },
    show(period) {
      const time = period && periodOf(period.from ?? '..', period.to, type)
      for (const source of sources()) if ((source.options.time ?? null) !== time) source.setTime(time)
    },
    fail(error) {
      const [source] = sources()
      if (source) source.fail(error)
      else console.error(error.message)
    },
  }
}

async function statisticsOf(source: DataSource, options: TimeControlOptions): Promise<AttributeStatistics> {
  const { datasets } = source.map.client
  const datasetId = await idOfDataset(source)
  const request = source.options.apiKey ? { apiKey: source.options.apiKey } : {}
  const attribute = options.attribute ?? timeOf((await datasets.get(datasetId, request)).attributes)
  return await datasets.statistics(datasetId, attribute, { bins: options.steps ?? usualSteps, ...request })
}

async function idOfDataset({ options: { src, apiKey }, map: { client } }: DataSource): Promise<string> {
  if (typeof src !== 'string') throw new Error('source: must show a dataset.')
  if (isName(src)) return await (await import('../named-records.ts')).idOfName(client, 'dataset', src, apiKey)
  const request = apiKey ? { apiKey } : {}
  return (await client.tiles.describe(src, request)).dataset?.id ?? src
}

function timeOf(attributes: readonly { name: string; type: string }[]): string {
  const found = attributes.find(({ type }) => type === 'datetime' || type === 'date')
  if (!found) throw new Error('attribute: the dataset has no date or datetime.')
  return found.name
}

const stepsOf = ({ histogram }: AttributeStatistics): TimeStep[] =>
  histogram.map(({ from, to, count }) => ({ from: String(from), to: String(to), count }))

/** As the server takes it; to the microsecond, as databases have it. */
export function periodOf(from: string, to: string, type: string): string {
  const last = lastOf(to)
  const begin = from === '..' ? from : new Date(from).toISOString()
  if (type === 'date') return `${begin.slice(0, 10)}/${last.slice(0, 10)}`
  return `${begin}/${last.replace(/\.(\d{3})Z$/, '.$1999Z')}`
}
