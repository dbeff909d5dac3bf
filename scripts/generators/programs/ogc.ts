import { Configuration, OgcApi, OgcCreateItemRequestTypeEnum, ResponseError } from '../ogc-typescript-fetch'
import { server } from './scenario'

const ogc = new OgcApi(new Configuration({ basePath: `${server.url}/ogc`, apiKey: server.key }))

async function main(): Promise<void> {
  const { collections } = (await ogc.ogcCollections()) as { collections: { id: string }[] }
  const [{ id: collectionId } = { id: '' }] = collections
  const ogcCreateItemRequest = {
    type: OgcCreateItemRequestTypeEnum.Feature,
    properties: { name: 'Malmö' },
    geometry: { type: 'Point', coordinates: [13, 55.6] },
  }
  await ogc.ogcCreateItem({ collectionId, ogcCreateItemRequest })
  const found = (await ogc.ogcItems({ collectionId, bbox: [12, 55, 14, 56], limit: 1 })) as {
    features: { properties: { name: string } }[]
  }
  const error = await ogc.ogcItem({ collectionId, featureId: '999' }).catch((thrown: unknown) => thrown)
  if (!(error instanceof ResponseError)) throw error
  console.log(
    JSON.stringify({
      collections: collections.length,
      names: found.features.map(({ properties }) => properties.name),
      missing: error.response.status,
    }),
  )
}

void main()
