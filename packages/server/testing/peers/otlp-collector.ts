import { httpSink } from './http-sink.ts'

type Attribute = { key: string; value: Record<string, unknown> }
export type CollectedSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  attributes: Record<string, unknown>
  links: { traceId: string; spanId: string }[]
}
type Point = { attributes: Attribute[]; asDouble?: number; asInt?: number; count?: number }
type Metric = { name: string } & Record<'sum' | 'gauge' | 'histogram', { dataPoints: Point[] } | undefined>

/** A collector of OpenTelemetry that takes JSON over HTTP and keeps it. */
export async function otlpCollector(status: () => number | Promise<number> = () => 200) {
  const sink = await httpSink(async () => ({ status: await status(), body: '{}' }))
  const bodies = (path: string) => sink.requests.filter((one) => one.path === path).map(({ body }) => JSON.parse(body))
  return {
    ...sink,
    /** All that it was sent, as text. */
    text: () => sink.requests.map(({ body }) => body).join('\n'),
    spans: (): CollectedSpan[] =>
      bodies('/v1/traces').flatMap(({ resourceSpans }) =>
        // biome-ignore lint/suspicious/noExplicitAny: as OTLP has it
        resourceSpans.flatMap(({ scopeSpans }: any) =>
          // biome-ignore lint/suspicious/noExplicitAny: as OTLP has it
          scopeSpans.flatMap(({ spans }: any) =>
            spans.map((span: CollectedSpan & { attributes: Attribute[] }) => ({
              ...span,
              attributes: plain(span.attributes),
              links: span.links ?? [],
            })),
          ),
        ),
      ),
    /** Those of the last export. */
    metrics: (): Metric[] => {
      const last = bodies('/v1/metrics').at(-1)
      return (
        // biome-ignore lint/suspicious/noExplicitAny: as OTLP has it
        last?.resourceMetrics.flatMap(({ scopeMetrics }: any) => scopeMetrics.flatMap(({ metrics }: any) => metrics)) ??
        []
      )
    },
    /** Of what each process says of itself. */
    resources: (): Record<string, unknown>[] =>
      bodies('/v1/traces').flatMap(({ resourceSpans }) =>
        resourceSpans.map(({ resource }: { resource: { attributes: Attribute[] } }) => plain(resource.attributes)),
      ),
  }
}

const plain = (attributes: Attribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
