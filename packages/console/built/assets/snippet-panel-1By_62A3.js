import{r as e}from"./rolldown-runtime-XKyaHtl9.js";import{A as t,N as n}from"./react-Blxb4kRm.js";import{i as r}from"./address-C_tTFYI3.js";import{t as i}from"./copyable-BQ0EoslX.js";import{r as a}from"./field-BpYx7cRD.js";import{i as o}from"./page-DdgkCSE5.js";import{t as s}from"./query.module-D9Hnbjnz.js";import{a as c,i as l,n as u,r as d,t as f}from"./snippet-input-CSmS8K7z.js";import{t as p}from"./pretty-json-gjMVgVT7.js";var m=e(n(),1);function h(e){let t=u(e)?`geojson`:`csv`;return g(e.query)?_(e,t):y(e,t)}var g=({group:e,distinct:t,sample:n,nearest:r})=>!(e||t||n||r);function _(e,t){let n=[`As features:`,`1. Layer > Add Layer > Add Vector Layer…`,`2. Source type: Protocol: HTTP(S); Type: ${t===`geojson`?`GeoJSON`:`Others`}`,`3. URI:`,v(e,t),`4. Add`],{dataset:r,server:i,query:a}=e,o=!(a.attributes||a.offset);if(t!==`geojson`||!o)return n.join(`
`);let s=a.where?`&filter=${encodeURIComponent(JSON.stringify(a.where))}`:``;return[...n,``,`As vector tiles, for many rows (without limit and order):`,`1. Layer > Add Layer > Add Vector Tile Layer… > New > New Generic Connection`,`2. URL, zooms 0 to 14:`,`${i}/tiles/${r.id}/{z}/{x}/{y}.mvt?api-key=${d}${s}`,`3. Add`].join(`
`)}function v({server:e,dataset:t,query:n,parameters:r},i){let{attributes:a,where:o,order:s,limit:c,offset:l}=n,u=new URLSearchParams({format:i,...a&&{attributes:a.join(`,`)},...o&&{filter:JSON.stringify(o)},...s&&{sort:s.join(`,`)},...c!==void 0&&{limit:String(c)},...l!==void 0&&{offset:String(l)},...r,"api-key":d});return`${e}/api/v1/datasets/${t.id}/query?${u}`}function y(e,t){return[`QGIS asks by GET, which knows no groups, samples or distances. Fetch the rows into a file:`,``,`${f(e,{format:t})} \\`,`  -o rows.${t}`,``,`Then drag rows.${t} into QGIS.`].join(`
`)}var b=[{id:`curl`,label:`curl`,write:f},{id:`client`,label:`TypeScript`,write:x},{id:`maplibre`,label:`MapLibre`,write:S},{id:`python`,label:`Python`,write:E},{id:`qgis`,label:`QGIS`,write:h}];function x({server:e,dataset:t,query:n,parameters:r}){let i=Object.keys(r).length>0?`, ${JSON.stringify(r)}`:``;return`// npm install @graticule/client
import { createClient } from '@graticule/client'

const client = createClient('${e}', '${d}')
const rows = await client.datasets.query('${t.id}', ${p(n)}${i})
console.log(rows)
`}function S(e){if(!u(e))return`The rows of this query have no geometry: leave out group and aggregates, and ask for the geometry.`;let{server:t,query:n,dataset:r}=e;return`<!doctype html>
<meta charset="utf-8">
<title>${r.name.replaceAll(/[<&]/g,` `)}</title>
<link rel="stylesheet" href="https://unpkg.com/maplibre-gl@6/dist/maplibre-gl.css">
<div id="map" style="position: absolute; inset: 0"></div>
<script type="module">
  import * as maplibregl from 'https://unpkg.com/maplibre-gl@6/dist/maplibre-gl.mjs'

  // Everybody who opens this page can read the key: use one that may only read this.
  const key = '${d}'
  const styles = await fetch('${t}/api/v1/styles?filter[name]=Light&fields=id&api-key=' + key)
  const [light] = await styles.json()
  const map = new maplibregl.Map({
    container: 'map',
    center: [10, 30],
    zoom: 1.5,
    style: \`${t}/maps/\${light.id}.json?api-key=\${key}\`,
  })
  const answer = await fetch(${JSON.stringify(l(e,{format:`geojson`}))}, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(${T(C(n),4)}),
  })
  const data = await answer.json()
  map.once('load', () => {
    map.addSource('rows', { type: 'geojson', data })
    map.addLayer(${T(w(e),4)})
  })
<\/script>
`}var C=e=>p(e).replaceAll(`<`,`\\u003c`);function w({dataset:e,query:t}){let n=u({dataset:e,query:t}),r=e.attributes.find(e=>e.name===n)?.geometryType??``,[i,a]=/polygon/i.test(r)?[`fill`,{"fill-color":`#1c6dd0`,"fill-opacity":.5}]:/line/i.test(r)?[`line`,{"line-color":`#1c6dd0`,"line-width":2}]:[`circle`,{"circle-color":`#1c6dd0`,"circle-radius":5}];return p({id:`rows`,type:i,source:`rows`,paint:a})}var T=(e,t)=>e.replaceAll(`
`,`\n${` `.repeat(t)}`);function E(e){let t=u(e)!==void 0,n={...t&&{format:`geojson`},...e.parameters},{server:r,dataset:i,query:a}=e;return`# pip install requests${t?` geopandas`:``}
import requests
${t?`import geopandas
`:``}
answer = requests.post(
    ${c(`${r}/api/v1/datasets/${i.id}/query`)},
    params=${c(n)},
    headers={"x-api-key": "${d}"},
    json=${c(a,4)},
    timeout=60,
)
answer.raise_for_status()
${t?`rows = geopandas.GeoDataFrame.from_features(answer.json(), crs="EPSG:4326")
print(rows.head())`:`rows = answer.json()
print(rows)`}
`}var D=t();function O({dataset:e,query:t,parameters:n}){let[c,l]=(0,m.useState)(`curl`),{label:u,write:f}=b.find(({id:e})=>e===c)??b[0],p=f({server:r.replace(/\/$/,``),dataset:e,query:t,parameters:n});return(0,D.jsxs)(`div`,{className:o.section,children:[(0,D.jsx)(`div`,{children:(0,D.jsx)(a,{label:`Tool`,value:c,options:b.map(e=>({value:e.id,label:e.label})),onChange:l})}),(0,D.jsx)(i,{text:p,label:`code for ${u}`}),(0,D.jsxs)(`p`,{className:s.muted,children:[`Put a key for `,(0,D.jsx)(`code`,{children:d}),` that may read and execute this dataset, and no more.`]})]})}export{O as t};