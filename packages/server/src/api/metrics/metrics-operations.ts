import { type Operation, operationUsing } from '../http/operation.ts'
import type { Metrics } from './metrics.ts'

export const metricsPath = '/metrics'

export type MetricsServices = { readonly metrics: Metrics }
const operation = operationUsing<MetricsServices>()

/** Prometheus metrics of all applications together, for the operator. */
export const metricsOperations: readonly Operation<MetricsServices>[] = [
  operation({
    id: 'server.metrics',
    method: 'GET',
    path: metricsPath,
    summary: 'Get the figures of the server',
    description: 'In Prometheus’ text format. Counting begins when they are asked for the first time.',
    access: { class: 'applications', level: 'read', master: true },
    success: { status: 200, description: 'The figures', contentType: 'text/plain' },
    async handle({ services: { metrics } }) {
      const { contentType, text } = await metrics.read()
      return { headers: { 'content-type': contentType, 'cache-control': 'no-store' }, body: Buffer.from(text) }
    },
  }),
]
