import{r as e}from"./rolldown-runtime-XKyaHtl9.js";import{A as t,N as n,n as r,u as i}from"./react-Blxb4kRm.js";import{i as a}from"./address-C_tTFYI3.js";import{t as o}from"./copyable-BfUPa8DB.js";import{r as s}from"./field-CvKy_U2f.js";import{i as c}from"./page-D7VPefIz.js";import{a as l,i as u,n as d,r as f,t as p}from"./snippet-input-CSmS8K7z.js";import{n as m}from"./note.module-DR3fCdn4.js";import{t as h}from"./error-note-kn8OGTZH.js";import{t as g}from"./query-keys-CRAZXva6.js";import{i as _,n as v}from"./session-DSKAI8_X.js";import{t as y}from"./query.module-D9Hnbjnz.js";import{t as b}from"./pretty-json-gjMVgVT7.js";var x=e(n(),1),S=t();function C({dataset:e,apiKey:t,onMade:n}){let r=_()(`apikeys`,`write`),i=w(e,n);return t?(0,S.jsx)(`p`,{className:y.muted,role:`status`,children:`The code has a new key, which reads this dataset and can do nothing else. It is listed in Access, where it can be deleted or limited to your websites.`}):(0,S.jsxs)(`div`,{className:c.section,children:[(0,S.jsxs)(`p`,{className:y.muted,children:[`Put a key for `,(0,S.jsx)(`code`,{children:f}),` that may read and execute this dataset, and no more.`]}),(0,S.jsx)(`div`,{children:(0,S.jsx)(m,{icon:`access`,disabled:i.isPending,disabledReason:r,onClick:()=>i.mutate(),children:i.isPending?`Making …`:`Make a read-only key`})}),i.error&&(0,S.jsx)(h,{error:i.error})]})}function w({id:e,name:t},n){let a=v(),o=i();return r({mutationFn:()=>a.apiKeys.create({type:`app`,description:`Reads “${t}”, made for a snippet`.slice(0,255),permissions:{datasets:{read:[e],execute:[e]},tiles:{read:[e]}}}),onSuccess(e){n(e.id),o.invalidateQueries({queryKey:g.apikeys.all})}})}function T(e){let t=d(e)?`geojson`:`csv`;return E(e.query)?D(e,t):k(e,t)}var E=({group:e,distinct:t,sample:n,nearest:r})=>!(e||t||n||r);function D(e,t){let n=[`As features:`,`1. Layer > Add Layer > Add Vector Layer…`,`2. Source type: Protocol: HTTP(S); Type: ${t===`geojson`?`GeoJSON`:`Others`}`,`3. URI:`,O(e,t),`4. Add`],{dataset:r,server:i,query:a}=e,o=!(a.attributes||a.offset);if(t!==`geojson`||!o)return n.join(`
`);let s=a.where?`&filter=${encodeURIComponent(JSON.stringify(a.where))}`:``;return[...n,``,`As vector tiles, for many rows (without limit and order):`,`1. Layer > Add Layer > Add Vector Tile Layer… > New > New Generic Connection`,`2. URL, zooms 0 to 14:`,`${i}/tiles/${r.id}/{z}/{x}/{y}.mvt?api-key=${f}${s}`,`3. Add`].join(`
`)}function O({server:e,dataset:t,query:n,parameters:r},i){let{attributes:a,where:o,order:s,limit:c,offset:l}=n,u=new URLSearchParams({format:i,...a&&{attributes:a.join(`,`)},...o&&{filter:JSON.stringify(o)},...s&&{sort:s.join(`,`)},...c!==void 0&&{limit:String(c)},...l!==void 0&&{offset:String(l)},...r,"api-key":f});return`${e}/api/v1/datasets/${t.id}/query?${u}`}function k(e,t){return[`QGIS asks by GET, which knows no groups, samples or distances. Fetch the rows into a file:`,``,`${p(e,{format:t})} \\`,`  -o rows.${t}`,``,`Then drag rows.${t} into QGIS.`].join(`
`)}var A=[{id:`curl`,label:`curl`,write:p},{id:`client`,label:`TypeScript`,write:j},{id:`maplibre`,label:`MapLibre`,write:M},{id:`python`,label:`Python`,write:I},{id:`qgis`,label:`QGIS`,write:T}];function j({server:e,dataset:t,query:n,parameters:r}){let i=Object.keys(r).length>0?`, ${JSON.stringify(r)}`:``;return`// npm install @graticule/client
import { createClient } from '@graticule/client'

const client = createClient('${e}', '${f}')
const rows = await client.datasets.query('${t.id}', ${b(n)}${i})
console.log(rows)
`}function M(e){if(!d(e))return`The rows of this query have no geometry: leave out group and aggregates, and ask for the geometry.`;let{server:t,query:n,dataset:r}=e;return`<!doctype html>
<meta charset="utf-8">
<title>${r.name.replaceAll(/[<&]/g,` `)}</title>
<link rel="stylesheet" href="https://unpkg.com/maplibre-gl@6/dist/maplibre-gl.css">
<div id="map" style="position: absolute; inset: 0"></div>
<script type="module">
  import * as maplibregl from 'https://unpkg.com/maplibre-gl@6/dist/maplibre-gl.mjs'

  // Everybody who opens this page can read the key: use one that may only read this.
  const key = '${f}'
  const styles = await fetch('${t}/api/v1/styles?filter[name]=Light&fields=id&api-key=' + key)
  const [light] = await styles.json()
  const map = new maplibregl.Map({
    container: 'map',
    center: [10, 30],
    zoom: 1.5,
    style: \`${t}/maps/\${light.id}.json?api-key=\${key}\`,
  })
  const answer = await fetch(${JSON.stringify(u(e,{format:`geojson`}))}, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(${F(N(n),4)}),
  })
  const data = await answer.json()
  map.once('load', () => {
    map.addSource('rows', { type: 'geojson', data })
    map.addLayer(${F(P(e),4)})
  })
<\/script>
`}var N=e=>b(e).replaceAll(`<`,`\\u003c`);function P({dataset:e,query:t}){let n=d({dataset:e,query:t}),r=e.attributes.find(e=>e.name===n)?.geometryType??``,[i,a]=/polygon/i.test(r)?[`fill`,{"fill-color":`#1c6dd0`,"fill-opacity":.5}]:/line/i.test(r)?[`line`,{"line-color":`#1c6dd0`,"line-width":2}]:[`circle`,{"circle-color":`#1c6dd0`,"circle-radius":5}];return b({id:`rows`,type:i,source:`rows`,paint:a})}var F=(e,t)=>e.replaceAll(`
`,`\n${` `.repeat(t)}`);function I(e){let t=d(e)!==void 0,n={...t&&{format:`geojson`},...e.parameters},{server:r,dataset:i,query:a}=e;return`# pip install requests${t?` geopandas`:``}
import requests
${t?`import geopandas
`:``}
answer = requests.post(
    ${l(`${r}/api/v1/datasets/${i.id}/query`)},
    params=${l(n)},
    headers={"x-api-key": "${f}"},
    json=${l(a,4)},
    timeout=60,
)
answer.raise_for_status()
${t?`rows = geopandas.GeoDataFrame.from_features(answer.json(), crs="EPSG:4326")
print(rows.head())`:`rows = answer.json()
print(rows)`}
`}function L({dataset:e,query:t,parameters:n}){let[r,i]=(0,x.useState)(`curl`),{label:l,write:u}=A.find(({id:e})=>e===r)??A[0],[d,p]=(0,x.useState)(null),m=u({server:a.replace(/\/$/,``),dataset:e,query:t,parameters:n}),h=d?m.replaceAll(f,d):m;return(0,S.jsxs)(`div`,{className:c.section,children:[(0,S.jsx)(`div`,{children:(0,S.jsx)(s,{label:`Tool`,value:r,options:A.map(e=>({value:e.id,label:e.label})),onChange:i})}),(0,S.jsx)(o,{text:h,label:`code for ${l}`}),(0,S.jsx)(C,{dataset:e,apiKey:d,onMade:p})]})}export{L as t};