import { createClient } from '@graticule/client'
import { createState } from '@graticule/map'
import { AppState } from '@graticule/map/react'
import { setWorkerUrl } from 'maplibre-gl'
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url'
import 'maplibre-gl/dist/maplibre-gl.css'
import { StrictMode, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { SignIn } from './sign-in.tsx'
import { Workspace } from './workspace.tsx'

setWorkerUrl(workerUrl)
const told = new URLSearchParams(location.hash.slice(1))
const client = createClient(told.get('url') ?? location.origin)
const applicationId = told.get('application') ?? ''
const state = createState({ selected: [] })

function Application() {
  const [isSignedIn, setSignedIn] = useState(false)
  if (!isSignedIn) return <SignIn client={client} applicationId={applicationId} onSignedIn={() => setSignedIn(true)} />
  return (
    <AppState state={state}>
      <Workspace client={client} />
    </AppState>
  )
}

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <Application />
    </StrictMode>,
  )
}
