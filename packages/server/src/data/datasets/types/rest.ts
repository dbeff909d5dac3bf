// Datasets of type rest: a web service that returns JSON, GeoJSON or CSV, with `{name}` markers for parameters in its
// URL.
import type { DatasetType } from '../dataset-type.ts'
import { memoryType, parameterValues, type ReadAllRows } from '../memory/memory-source.ts'
import { fetchRest } from './rest-answer.ts'
import { checkRestSettings, restSettings } from './rest-settings.ts'
import { checkRestTemplate, restMarkers } from './rest-template.ts'

const askRest: ReadAllRows = async (options, dataset, inputs, limits) => {
  const { body, contentType } = await fetchRest(
    {
      applicationId: dataset.applicationId,
      url: dataset.source,
      parameters: parameterValues(dataset, restMarkers(dataset.source), inputs),
      headers: options.openHeaders(dataset),
    },
    { egress: options.egress, cache: options.cache, ...limits },
  )
  return { kind: 'document', body, contentType, ...restSettings(dataset.metadata) }
}

const { inspect, open } = memoryType(askRest)

export const restType: DatasetType = {
  parameters: ({ source }) => restMarkers(source),
  async inspect(dataset, context, options) {
    checkRestTemplate(dataset.source)
    checkRestSettings(dataset.metadata.rest)
    return inspect(dataset, context, options)
  },
  open,
  secretsOrigin: (source) => URL.parse(source)?.origin,
}
