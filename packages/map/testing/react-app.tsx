/** An application as readers of the documentation would write it: a list and a map that show the same selection. */
import { useState } from 'react'
import type { MapClient, GraticuleMap as MapObject, State } from '../src/map.ts'
import { AppState, DataSource, GraticuleMap, useAppState, useMap } from '../src/react/react.ts'

export interface AppProps {
  client: MapClient
  state: State
  dataset: string
  light: string
  dark: string
  onReady(map: MapObject): void
  onError(message: string): void
}

export function App({ client, state, dataset, light, dark, onReady, onError }: AppProps) {
  const [style, setStyle] = useState(light)
  const [isShown, setShown] = useState(true)
  const name = style === light ? 'light' : 'dark'
  return (
    <AppState state={state}>
      <List />
      <button type="button" onClick={() => setStyle(dark)}>
        Dark
      </button>
      <button type="button" onClick={() => setShown(!isShown)}>
        Toggle
      </button>
      {isShown && (
        <GraticuleMap
          client={client}
          style={style}
          center={[0, 0]}
          zoom={2}
          fadeDuration={0}
          live
          containerStyle={{ width: 800, height: 440 }}
          onReady={onReady}
        >
          <DataSource
            id="places"
            src={dataset}
            live
            selectionMode="single"
            selectionState="ui.other"
            selectionFeatureState="ui.properties"
            selectionPopup={({ feature }) => `Popup of ${feature.properties.name} in ${name}`}
            onError={({ detail }) => onError(detail.error.message)}
            onLiveEnd={({ detail }) => onError(detail.error.message)}
          />
          <Zoom />
        </GraticuleMap>
      )}
    </AppState>
  )
}

function List() {
  const [chosen, choose] = useAppState<number | null>('ui.other')
  const [properties] = useAppState<{ name: string } | null>('ui.properties')
  return (
    <div>
      {[1, 2, 3].map((id) => (
        <button type="button" key={id} onClick={() => choose(id)}>
          Choose {id}
        </button>
      ))}
      <output>
        {chosen} {properties?.name}
      </output>
    </div>
  )
}

const Zoom = () => <i>{useMap().gl.getZoom()}</i>
