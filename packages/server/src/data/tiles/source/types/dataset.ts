// Tile sources of type dataset: tiles are made on request from a dataset's rows.
import { reachesId, type Scope, scopeOf } from '../../../../api/access/acl.ts'
import { ApiError, invalid } from '../../../../kernel/errors.ts'
import type { Dataset } from '../../../datasets/dataset-record.ts'
import { ownParameters } from '../../../datasets/sources.ts'
import { formsOf } from '../../cache/tile-cache.ts'
import { makeDatasetTile } from '../../strategy/dataset-tiles.ts'
import { reportMade } from '../../strategy/report-made.ts'
import { layerOf } from '../dataset-layer.ts'
import { detectDataset } from '../detect-coverage.ts'
import { readTileSettings } from '../tile-settings.ts'
import type { TileSourceContext, TileSourceType } from '../tile-source-type.ts'
import { digestVersion } from '../tile-version.ts'

export const datasetType: TileSourceType = {
  checkReach,
  async resolve(context, applicationId, source) {
    layerOf(await datasetOf(context, applicationId, source))
  },
  detect: async (context, applicationId, source, signal) =>
    detectDataset(context.data, await datasetOf(context, applicationId, source), signal),
  async load({ data }, source, revision) {
    const dataset = await data.find(source.applicationId, source.source)
    if (!dataset) throw lostDataset()
    const layer = layerOf(dataset)
    const { overviews: isWanted = true } = readTileSettings(source.metadata)
    const { version: dataVersion, lastChange } = await data.state(dataset)
    const overview = isWanted ? await data.overview(dataset) : undefined
    const fileOverview = isWanted ? await data.fileOverview(dataset) : undefined
    const made = overview?.version ?? fileOverview?.version ?? ''
    const version = digestVersion(revision, dataset.revision, dataVersion, made)
    const parameters = ownParameters(dataset)
    const name = source.name || dataset.name
    const overviews = { ...(overview && { overview }), ...(fileOverview && { fileOverview }) }
    return { source, version, lastChange, name, layer, parameters, ...overviews }
  },
  async makeTile(makers, source, { tile, extension, parameters, tree }, compression, signal) {
    const request = { tile, parameters, inputs: tree, asGeoJson: extension === 'geojson', compression }
    const { made, features } = await makeDatasetTile(makers, source, request, signal)
    reportMade(made)
    return { forms: formsOf(made, compression), etag: made.etag, features }
  },
}

async function datasetOf({ data }: TileSourceContext, applicationId: string, id: string): Promise<Dataset> {
  const dataset = await data.find(applicationId, id)
  if (!dataset) throw absentDataset()
  return dataset
}

/** A tile source makes its dataset readable to others, so its creator must be able to read the dataset. */
function checkReach(scope: Scope, id: string): void {
  if (reachesId(scopeOf(scope.caller, 'datasets', 'execute'), id.toLowerCase())) return
  throw absentDataset()
}

/**
 * The same message for a dataset of another tenant, an unreadable one, a missing one and a malformed id, so that
 * nothing is revealed.
 */
const absentDataset = (): ApiError => invalid('body/source', 'must be the id of a dataset of this application')

const lostDataset = (): ApiError =>
  new ApiError(
    'not_found',
    'The dataset that this tile source names does not exist. Give the tile source another source.',
  )
