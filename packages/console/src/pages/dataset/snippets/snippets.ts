/**
 * Code snippets of a query for several tools, with the server's URL and a placeholder for the key. Never with the session's
 * key, which may have far more permissions than a snippet should.
 */
import { prettyJson } from '../../../components/code-editor/pretty-json.ts'
import { qgisSnippet } from './qgis-snippet.ts'
import { curlSnippet, geometryIn, placeholderKey, queryAddress, type SnippetInput } from './snippet-input.ts'
import { pythonLiteral } from './snippet-literals.ts'

export const snippetKinds = [
  { id: 'curl', label: 'curl', write: curlSnippet },
  { id: 'client', label: 'TypeScript', write: clientSnippet },
  { id: 'maplibre', label: 'MapLibre', write: mapLibreSnippet },
  { id: 'python', label: 'Python', write: pythonSnippet },
  { id: 'qgis', label: 'QGIS', write: qgisSnippet },
] as const

export type SnippetKind = (typeof snippetKinds)[number]['id']

function clientSnippet({ server, dataset, query, parameters }: SnippetInput): string {
  const params = Object.keys(parameters).length > 0 ? `, ${JSON.stringify(parameters)}` : ''
  return `// npm install @graticule/client
import { createClient } from '@graticule/client'

const client = createClient('${server}', '${placeholderKey}')
const rows = await client.datasets.query('${dataset.id}', ${prettyJson(query)}${params})
console.log(rows)
`
}

function mapLibreSnippet(input: SnippetInput): string {
  if (!geometryIn(input))
    return 'The rows of this query have no geometry: leave out group and aggregates, and ask for the geometry.'
  const { server, query, dataset } = input
  return `<!doctype html>
<meta charset="utf-8">
<title>${dataset.name.replaceAll(/[<&]/g, ' ')}</title>
<link rel="stylesheet" href="https://unpkg.com/maplibre-gl@6/dist/maplibre-gl.css">
<div id="map" style="position: absolute; inset: 0"></div>
<script type="module">
  import * as maplibregl from 'https://unpkg.com/maplibre-gl@6/dist/maplibre-gl.mjs'

  // Everybody who opens this page can read the key: use one that may only read this.
  const key = '${placeholderKey}'
  const styles = await fetch('${server}/api/v1/styles?filter[name]=Light&fields=id&api-key=' + key)
  const [light] = await styles.json()
  const map = new maplibregl.Map({
    container: 'map',
    center: [10, 30],
    zoom: 1.5,
    style: \`${server}/maps/\${light.id}.json?api-key=\${key}\`,
  })
  const answer = await fetch(${JSON.stringify(queryAddress(input, { format: 'geojson' }))}, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(${indented(safeScript(query), 4)}),
  })
  const data = await answer.json()
  map.once('load', () => {
    map.addSource('rows', { type: 'geojson', data })
    map.addLayer(${indented(layerOf(input), 4)})
  })
</script>
`
}

/** Escapes `<`, so that JSON cannot end a script element. */
const safeScript = (value: unknown): string => prettyJson(value).replaceAll('<', '\\u003c')

function layerOf({ dataset, query }: SnippetInput): string {
  const name = geometryIn({ dataset, query })
  const kind = dataset.attributes.find((attribute) => attribute.name === name)?.geometryType ?? ''
  const [type, paint] = /polygon/i.test(kind)
    ? ['fill', { 'fill-color': '#1c6dd0', 'fill-opacity': 0.5 }]
    : /line/i.test(kind)
      ? ['line', { 'line-color': '#1c6dd0', 'line-width': 2 }]
      : ['circle', { 'circle-color': '#1c6dd0', 'circle-radius': 5 }]
  return prettyJson({ id: 'rows', type, source: 'rows', paint })
}

const indented = (text: string, blanks: number): string => text.replaceAll('\n', `\n${' '.repeat(blanks)}`)

function pythonSnippet(input: SnippetInput): string {
  const hasGeometry = geometryIn(input) !== undefined
  const params = { ...(hasGeometry && { format: 'geojson' }), ...input.parameters }
  const { server, dataset, query } = input
  return `# pip install requests${hasGeometry ? ' geopandas' : ''}
import requests
${hasGeometry ? 'import geopandas\n' : ''}
answer = requests.post(
    ${pythonLiteral(`${server}/api/v1/datasets/${dataset.id}/query`)},
    params=${pythonLiteral(params)},
    headers={"x-api-key": "${placeholderKey}"},
    json=${pythonLiteral(query, 4)},
    timeout=60,
)
answer.raise_for_status()
${
  hasGeometry
    ? 'rows = geopandas.GeoDataFrame.from_features(answer.json(), crs="EPSG:4326")\nprint(rows.head())'
    : 'rows = answer.json()\nprint(rows)'
}
`
}
