/** The colour and symbol of a dataset on the home page's map. */
import type { Dataset } from '@graticule/client'
import type { LegendItem } from '../../map/legend.tsx'

/** Colours for a light and a dark base map. Without orange, which means "selected" in the console. */
const colours = [
  ['#0b6b5f', '#5cc9b7'],
  ['#3b5bdb', '#91a7ff'],
  ['#9c36b5', '#e599f7'],
  ['#5c7a00', '#c0e05a'],
  ['#c2255c', '#faa2c1'],
  ['#1971c2', '#74c0fc'],
  ['#8a6d00', '#ffe066'],
  ['#5f3dc4', '#b197fc'],
  ['#087f8c', '#66d9e8'],
  ['#7a4a2b', '#d9b08c'],
  ['#2b8a3e', '#8ce99a'],
  ['#495057', '#ced4da'],
] as const

/** As many as there are distinguishable colours. */
export const maxOnMap = colours.length

export interface MapDataset {
  dataset: Dataset
  colour: { light: string; dark: string }
  shape: LegendItem['shape']
}

/** Colours are assigned by age, so that they do not change when another dataset is modified. */
export function mapDatasets(datasets: readonly Dataset[]): MapDataset[] {
  const drawable = datasets.filter(({ attributes }) => attributes.some(({ type }) => type === 'geometry'))
  const byAge = [...drawable].sort((one, other) => one.createdAt.localeCompare(other.createdAt))
  return drawable.map((dataset) => {
    const [light, dark] = colours[byAge.indexOf(dataset) % colours.length] ?? colours[0]
    return { dataset, colour: { light, dark }, shape: shapeOf(dataset) }
  })
}

function shapeOf({ attributes }: Dataset): LegendItem['shape'] {
  const type = attributes.find((attribute) => attribute.type === 'geometry')?.geometryType ?? ''
  if (/polygon|surface/i.test(type)) return 'area'
  return /line|curve/i.test(type) ? 'line' : 'point'
}

export type DatasetExtent = [west: number, south: number, east: number, north: number]

/** The bounding box of all extents. */
export function unionOf(extents: readonly (readonly number[] | undefined)[]): DatasetExtent | undefined {
  const boxes = extents.filter((extent) => extent?.length === 4) as DatasetExtent[]
  if (boxes.length === 0) return undefined
  const corner = (index: number, choose: typeof Math.min) => choose(...boxes.map((box) => box[index] ?? 0))
  return [corner(0, Math.min), corner(1, Math.min), corner(2, Math.max), corner(3, Math.max)]
}

/** Layers of one upload are made in one moment. */
const sameMomentMs = 100

/** The datasets that were made last: those of one upload together. */
export function addedLast(datasets: readonly Pick<Dataset, 'id' | 'createdAt'>[]): string[] {
  const times = datasets.map(({ createdAt }) => Date.parse(createdAt))
  const last = Math.max(...times)
  return datasets.filter((_, index) => last - (times[index] ?? 0) < sameMomentMs).map(({ id }) => id)
}

/** The sum of all row counts; undefined if any is unknown. */
export function totalRows(datasets: readonly Pick<Dataset, 'rowEstimate'>[]): number | undefined {
  const rows = datasets.map(({ rowEstimate }) => rowEstimate)
  return rows.every((number) => number !== null) ? rows.reduce((sum, number) => sum + number, 0) : undefined
}

/** Whether all datasets are the server's examples. */
export const isNewTenant = (datasets: readonly Pick<Dataset, 'metadata'>[]): boolean =>
  datasets.every(({ metadata: { tags } }) => Array.isArray(tags) && tags.includes('sample'))
