import type { LayerSpecification, StyleSpecification } from '@maplibre/maplibre-gl-style-spec'
import { DARK, type Flavor, GRAYSCALE, LIGHT, layers, WHITE } from '@protomaps/basemaps'
import { adaptLayers } from './base-layers.ts'

export type BaseStyle = {
  key: 'light' | 'dark' | 'blue' | 'detailed'
  name: string
  description: string
  style: StyleSpecification
}

const source = 'basemap'

/** Quiet: white land in pale blue water, for data to lie on. */
const light: Flavor = {
  ...WHITE,
  background: '#cfe0ea',
  water: '#cfe0ea',
  earth: '#fbfaf7',
  boundaries: '#a9a2b8',
  ocean_label: '#7d9fb5',
  city_label: '#4f5560',
  city_label_halo: '#fbfaf7',
  state_label: '#b3afb8',
  state_label_halo: '#fbfaf7',
  country_label: '#8a8794',
  subplace_label_halo: '#fbfaf7',
}

const dark: Flavor = {
  ...DARK,
  background: '#12161d',
  water: '#12161d',
  earth: '#2b3038',
  boundaries: '#6b7587',
  ocean_label: '#5b6b84',
  city_label: '#d0d5dd',
  city_label_halo: '#1d2128',
  state_label: '#737c8b',
  state_label_halo: '#262b32',
  country_label: '#9aa4b5',
  subplace_label: '#8c95a5',
  landcover: {
    forest: '#272f30',
    farmland: '#2a3133',
    grassland: '#2d3235',
    scrub: '#303335',
    barren: '#343536',
    glacier: '#434a54',
    urban_area: '#30343b',
  },
}

const detailed: Flavor = {
  ...LIGHT,
  background: '#a9d3e6',
  water: '#a9d3e6',
  earth: '#eef0e2',
  boundaries: '#9a87a6',
  ocean_label: '#3f789e',
  city_label: '#3c4048',
  city_label_halo: '#ffffff',
  state_label: '#857c90',
  state_label_halo: '#f4f4ec',
  country_label: '#6b6178',
  subplace_label_halo: '#f4f4ec',
  landcover: {
    forest: '#cfe3c4',
    farmland: '#deeacb',
    grassland: '#e8edd2',
    scrub: '#f0eed8',
    barren: '#f6ecd4',
    glacier: '#fbfdff',
    urban_area: '#e6e2dc',
  },
}

const blue: Flavor = {
  ...(recoloured(GRAYSCALE, blueOf) as Flavor),
  background: '#6ba6d6',
  water: '#6ba6d6',
  earth: '#e4eff9',
  boundaries: '#5f93c0',
  ocean_label: '#eaf4fc',
  city_label: '#163f66',
  city_label_halo: '#eef6fc',
  state_label: '#7aa5cb',
  state_label_halo: '#e4eff9',
  country_label: '#2c6a9f',
  subplace_label_halo: '#e4eff9',
}

/** The styles that an application begins with. Addresses are relative; the map server makes them absolute. */
export function baseStyles(): BaseStyle[] {
  return [
    baseStyle('light', 'Light', 'A quiet map for data to lie on', light),
    baseStyle('dark', 'Dark', 'A dark map for bright data', dark),
    baseStyle('blue', 'Blue', 'A map in shades of one colour', blue),
    baseStyle('detailed', 'Detailed', 'Land cover, mountains, airports and sights', detailed),
  ]
}

function baseStyle(key: BaseStyle['key'], name: string, description: string, flavor: Flavor): BaseStyle {
  const style: StyleSpecification = {
    version: 8,
    name,
    sources: { [source]: { type: 'vector', url: '/tiles/basemap/index.json' } },
    glyphs: '/fonts/{fontstack}/{range}.pbf',
    sprite: key === 'dark' ? '/sprites/dark' : '/sprites/light',
    layers: adaptLayers(layers(source, flavor, { lang: 'en' }) as LayerSpecification[], flavor),
  }
  return { key, name, description, style }
}

/** All colours of a flavor, also those in its groups. */
function recoloured(part: object, colour: (hex: string) => string): object {
  return Object.fromEntries(
    Object.entries(part).map(([name, value]) => [
      name,
      typeof value === 'object' ? recoloured(value, colour) : value.startsWith('#') ? colour(value) : value,
    ]),
  )
}

/** A grey as a shade of blue of the same brightness. */
function blueOf(hex: string): string {
  const grey = Number.parseInt(hex.slice(1, 3), 16) / 255
  const shade = [18 + 222 * grey, 58 + 190 * grey, 100 + 155 * grey]
  return `#${shade.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`
}
