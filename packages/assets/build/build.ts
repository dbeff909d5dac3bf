import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { unpackDebianData } from './debian-data.ts'
import { buildFonts } from './fonts.ts'
import { gazetteerOf } from './gazetteer.ts'
import { readBands } from './layers.ts'
import { pmtiles } from './pmtiles-writer.ts'
import { buildSprites } from './sprites.ts'
import { cutTiles, maxZoom } from './tiling.ts'

/** Rebuilds the assets: all, or those named on the command line (basemap, gazetteer, fonts, sprites). */
const wanted = new Set(process.argv.slice(2))
const isWanted = (part: string): boolean => wanted.size === 0 || wanted.has(part)
const folder = fileURLToPath(new URL('..', import.meta.url))

export const attribution = 'Made with Natural Earth; places from GeoNames (CC BY 4.0)'

/** All layers of the scheme, also those that only more detailed archives fill: styles ask for them by name. */
const layers = ['earth', 'landcover', 'landuse', 'water', 'roads', 'buildings', 'boundaries', 'places', 'pois']

if (isWanted('fonts')) await buildFonts(`${folder}fonts`)
if (isWanted('sprites')) await buildSprites(`${folder}sprites`)
if (isWanted('basemap')) await writeFile(`${folder}basemap.pmtiles`, await buildBasemap())
if (isWanted('gazetteer')) await writeFile(`${folder}gazetteer.tsv.gz`, await gazetteerOf(`${folder}basemap.pmtiles`))

async function buildBasemap(): Promise<Buffer> {
  await unpackDebianData()
  const metadata = {
    name: 'Graticule world',
    description: 'Land, water, borders and places of the world, in the layers of the Protomaps scheme',
    attribution,
    type: 'baselayer',
    version: '1.0.0',
    vector_layers: layers.map((id) => ({ id, fields: {}, minzoom: 0, maxzoom: maxZoom })),
  }
  return pmtiles(cutTiles(await readBands()), {
    metadata,
    minZoom: 0,
    maxZoom,
    bounds: [-180, -85.0511287, 180, 85.0511287],
    center: [10, 30, 1],
  })
}
