import assert from 'node:assert/strict'
import { test } from 'node:test'
import { layerNameOf } from './reader.ts'

test('a layer is called after its file, without folders, the ending of its format and that of its packing', () => {
  const names: Record<string, string> = {
    'towns.csv': 'towns',
    'C:\\data\\Towns of Finland.xlsx': 'Towns of Finland',
    'a/b/towns.geojson.gz': 'towns',
    'roads.shp.zip': 'roads',
    'roads.zip': 'roads',
    'roads.2024.csv': 'roads.2024',
    'v1.2 final.gpkg': 'v1.2 final',
    'tour.kmz': 'tour',
    'Straßen Köln.kml': 'Straßen Köln',
    towns: 'towns',
    '.csv': '.csv',
    '': 'layer',
  }
  for (const [file, name] of Object.entries(names)) assert.equal(layerNameOf(file), name, file)
})
