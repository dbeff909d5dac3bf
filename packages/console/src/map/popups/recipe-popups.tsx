/** Popups of the layers that were made in the visual editor: a click on a feature tells what its recipe chose. */

import { useMap } from '@graticule/map/react'
import { type LayerRecipe, recipeMark } from '@graticule/map/recipe'
import { type MapGeoJSONFeature, type MapMouseEvent, Popup } from 'maplibre-gl'
import { useEffect } from 'react'
import { featureFacts, popupElement } from './feature-popup.ts'

interface RecipePopupsProps {
  layers: readonly LayerRecipe[]
}

/** Click tolerance in pixels, for small points. */
const tolerance = 4

export function RecipePopups({ layers }: RecipePopupsProps): null {
  const { gl } = useMap()
  useEffect(() => {
    const recipeOf = ({ layer: { metadata } }: MapGeoJSONFeature) => {
      const id = (metadata as Record<string, unknown> | undefined)?.[recipeMark]
      return layers.find((recipe) => recipe.id === id && recipe.popup !== null)
    }
    const find = ({ point: { x, y } }: MapMouseEvent) => {
      const around: [[number, number], [number, number]] = [
        [x - tolerance, y - tolerance],
        [x + tolerance, y + tolerance],
      ]
      return gl.queryRenderedFeatures(around).find((feature) => recipeOf(feature))
    }
    const click = (event: MapMouseEvent) => {
      const feature = find(event)
      const recipe = feature && recipeOf(feature)
      if (!feature || !recipe) return
      const fields = recipe.popup ?? { title: null, fields: Object.keys(feature.properties).slice(0, unchosenFields) }
      const facts = featureFacts(feature.properties, fields, recipe.name)
      new Popup({ maxWidth: '280px' }).setLngLat(event.lngLat).setDOMContent(popupElement(facts)).addTo(gl)
    }
    const point = (event: MapMouseEvent) => {
      gl.getCanvas().style.cursor = find(event) ? 'pointer' : ''
    }
    gl.on('click', click)
    gl.on('mousemove', point)
    return () => {
      gl.off('click', click)
      gl.off('mousemove', point)
    }
  }, [gl, layers])
  return null
}

/** Of recipes that were made before popups were chosen. */
const unchosenFields = 6
