/** A whole page that shows a map as it is here: plain HTML, or React with Vite. Both run as they are pasted. */

export interface MapCodeOptions {
  server: string
  /** Can show this map and do nothing else. */
  key: string
  styleId: string
  title: string
}

export type CodeKind = 'html' | 'react'

export const mapCode = (kind: CodeKind, options: MapCodeOptions): string =>
  kind === 'html' ? htmlPage(options) : reactPage(options)

const htmlPage = ({ server, key, styleId, title }: MapCodeOptions): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="stylesheet" href="https://unpkg.com/maplibre-gl@6/dist/maplibre-gl.css">
<script type="importmap">
  {
    "imports": {
      "maplibre-gl": "https://unpkg.com/maplibre-gl@6/dist/maplibre-gl.mjs",
      "@graticule/client": "https://unpkg.com/@graticule/client@0.1/dist/client.js",
      "@graticule/map": "https://unpkg.com/@graticule/map@0.1/dist/map.js"
    }
  }
</script>
<div id="map" style="position: absolute; inset: 0"></div>
<script type="module">
  import { createClient } from '@graticule/client'
  import { GraticuleMap } from '@graticule/map'
  import { NavigationControl } from 'maplibre-gl'

  // The key can show this map and do nothing else. Revoke it where you made it.
  const client = createClient(${literal(server)}, ${literal(key)})
  // Colours and the view come with the style; recipes are its legend, popups and tools.
  const map = new GraticuleMap({ container: 'map', client, style: ${literal(styleId)}, recipes: true })
  map.gl.addControl(new NavigationControl({ showCompass: false }))
</script>
</html>
`

const reactPage = ({ server, key, styleId, title }: MapCodeOptions): string => `// src/main.jsx of a project of Vite:
//   npm create vite@latest my-map -- --template react
//   npm install @graticule/client @graticule/map maplibre-gl
// and in vite.config.js: worker: { format: 'es' }
import 'maplibre-gl/dist/maplibre-gl.css'
import { createClient } from '@graticule/client'
import { GraticuleMap } from '@graticule/map/react'
import { NavigationControl, setWorkerUrl } from 'maplibre-gl'
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url'
import { createRoot } from 'react-dom/client'

setWorkerUrl(workerUrl)
// The key can show this map and do nothing else. Revoke it where you made it.
const client = createClient(${literal(server)}, ${literal(key)})

function App() {
  // Colours and the view come with the style; recipes are its legend, popups and tools.
  return (
    <div style={{ position: 'fixed', inset: 0 }}>
      <GraticuleMap
        client={client}
        style=${literal(styleId)}
        recipes
        onReady={(map) => map.gl.addControl(new NavigationControl({ showCompass: false }))}
      />
    </div>
  )
}

document.title = ${literal(title)}
createRoot(document.getElementById('root')).render(<App />)
`

/** A text in a script: a title cannot end the script or the line. */
const literal = (text: string): string =>
  JSON.stringify(text).replaceAll('<', '\\u003c').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
