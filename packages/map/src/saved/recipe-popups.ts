/// <reference lib="dom" />
/** Popups and tooltips of the layers of a style that were made from recipes: what was chosen for them in the console. */
import { type MapGeoJSONFeature, type Map as MapLibreMap, type MapMouseEvent, Popup } from 'maplibre-gl'
import type { GraticuleMap } from '../graticule-map.ts'
import { contentOf } from '../popups/fields.ts'
import { recipeMark } from '../recipe/compile.ts'
import { type LayerRecipe, unchosenPopup } from '../recipe/recipe.ts'

/** Click tolerance in pixels, for small points. */
const tolerance = 4

/** The open popup, and of which feature it is. */
type OpenPopup = { readonly popup: Popup; readonly name: string }

type PointedFeature = { readonly feature: MapGeoJSONFeature; readonly recipe: LayerRecipe }

/** `layersOf` is asked with each event. Returns a function that ends it. */
export function showRecipePopups(
  map: GraticuleMap,
  layersOf: () => readonly LayerRecipe[],
  locale?: string,
): () => void {
  const { gl } = map
  const tooltip = new Popup({ closeButton: false, closeOnClick: false, offset: 12, className: 'graticule-tooltip' })
  let told: OpenPopup | undefined
  const click = (event: MapMouseEvent): void => {
    const found = map.isMeasuring ? undefined : featureAt(gl, event, layersOf(), ({ popup }) => popup !== null)
    if (!found) return
    tooltip.remove()
    const popup = new Popup({ maxWidth: '300px' }).setLngLat(event.lngLat).setDOMContent(popupNode(found, locale))
    told = { popup: popup.addTo(gl), name: nameOf(found) }
  }
  const move = (event: MapMouseEvent): void => {
    if (map.isMeasuring) return void tooltip.remove()
    const layers = layersOf()
    gl.getCanvas().style.cursor = featureAt(gl, event, layers, ({ popup }) => popup !== null) ? 'pointer' : ''
    const found = featureAt(gl, event, layers, ({ hover }) => Boolean(hover))
    const text = hoverText(found)
    // What the open popup tells need not be told twice, above it.
    const isTold = found && told?.popup.isOpen() && told.name === nameOf(found)
    if (text === undefined || isTold) return void tooltip.remove()
    tooltip.setLngLat(event.lngLat).setText(text)
    if (!tooltip.isOpen()) tooltip.addTo(gl)
    // The pointer must reach what is below it.
    tooltip.getElement().style.pointerEvents = 'none'
  }
  const leave = (): void => void tooltip.remove()
  gl.on('click', click)
  gl.on('mousemove', move)
  gl.on('mouseout', leave)
  return () => {
    gl.off('click', click)
    gl.off('mousemove', move)
    gl.off('mouseout', leave)
    tooltip.remove()
  }
}

function featureAt(
  gl: MapLibreMap,
  { point: { x, y } }: MapMouseEvent,
  layers: readonly LayerRecipe[],
  isWanted: (recipe: LayerRecipe) => boolean,
): PointedFeature | undefined {
  const around: [[number, number], [number, number]] = [
    [x - tolerance, y - tolerance],
    [x + tolerance, y + tolerance],
  ]
  for (const feature of gl.queryRenderedFeatures(around)) {
    const id = (feature.layer.metadata as Record<string, unknown> | undefined)?.[recipeMark]
    const recipe = layers.find((one) => one.id === id)
    if (recipe && isWanted(recipe)) return { feature, recipe }
  }
  return undefined
}

const nameOf = ({ feature: { properties }, recipe: { id } }: PointedFeature): string => JSON.stringify([id, properties])

const isEmpty = (value: unknown): boolean => value === null || value === undefined || value === ''

/** What has no value is left out; a feature without a title has the name of its layer. */
function popupNode({ feature, recipe }: PointedFeature, locale: string | undefined): Node {
  const { properties } = feature
  const { title, fields } = recipe.popup ?? unchosenPopup(Object.keys(properties))
  const present = fields.filter((field) => !isEmpty(properties[typeof field === 'string' ? field : field.name]))
  const heading = title === null || isEmpty(properties[title]) ? recipe.name : undefined
  const content = {
    fields: present,
    ...(heading === undefined && title !== null && { title }),
    ...(locale && { locale }),
  }
  const node = contentOf(content, { feature: feature as never })
  if (heading !== undefined) {
    const strong = document.createElement('strong')
    strong.textContent = heading
    node.insertBefore(strong, node.firstChild)
  }
  return node
}

function hoverText(found: PointedFeature | undefined): string | undefined {
  const value = found?.recipe.hover ? found.feature.properties[found.recipe.hover] : undefined
  return isEmpty(value) ? undefined : String(value)
}
