// What a strict React program of somebody else says to the types of the map.
import type { Client } from '@graticule/client'
import { DataSource, GraticuleMap } from '@graticule/map/react'

export const Cities = ({ client }: { client: Client }) => (
  <GraticuleMap client={client} style="id">
    <DataSource id="cities" src="id" type="vector" selectionMode="single" />
  </GraticuleMap>
)

export const Wrong = ({ client }: { client: Client }) => (
  <GraticuleMap client={client} style="id">
    {/* @ts-expect-error: a misspelt mode */}
    <DataSource id="cities" src="id" type="vector" selectionMode="sinlge" />
  </GraticuleMap>
)
