import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { trace } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { type AgentWorld, agentWorld, until } from '../../../testing/agent-world.ts'

// One database is enough: traces are not stored.

const exporter = new InMemorySpanExporter()
let world: AgentWorld
before(async () => {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  world = await agentWorld()
})
after(async () => {
  await world.close()
  trace.disable()
})

const parent = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }

describe('where the process has an OpenTelemetry SDK, an invocation is a span', () => {
  test('of the caller’s trace, that the worker goes on with, and that tells what became of it', async () => {
    exporter.reset()
    const id = await world.agent({ name: 'Guide', model: 'm1' })
    let heard = ''
    await world.worker(id, ({ invoke, send }) => {
      heard = invoke.trace?.traceparent ?? ''
      send({ t: 'accept' })
      send({ t: 'delta', text: 'yes' })
      send({ t: 'done', model: 'm2', usage: { inputTokens: 3, outputTokens: 5 }, finishReason: 'stop' })
    })
    const traceparent = `00-${parent.traceId}-${parent.spanId}-01`
    const reply = await world.invoke(id, { input: 'x', conversationId: 'c1' }, { traceparent })
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    await until(() => exporter.getFinishedSpans().length === 1, 'there is no span')
    const [span] = exporter.getFinishedSpans()
    assert.ok(span)
    assert.equal(span.name, 'invoke_agent Guide')
    assert.equal(span.spanContext().traceId, parent.traceId)
    assert.equal(span.parentSpanContext?.spanId, parent.spanId)
    assert.equal(heard, `00-${parent.traceId}-${span.spanContext().spanId}-01`)
    const { 'graticule.first_output_ms': firstOutputMs, ...attributes } = span.attributes
    assert.ok(Number(firstOutputMs) >= 0)
    assert.deepEqual(attributes, {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.id': id,
      'gen_ai.agent.name': 'Guide',
      'gen_ai.request.model': 'm1',
      'gen_ai.conversation.id': 'c1',
      'gen_ai.response.model': 'm2',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 3,
      'gen_ai.usage.output_tokens': 5,
      'graticule.application.id': world.tenant.id,
      'graticule.invocation.id': reply.body.invocationId,
    })
  })

  test('that names the error when it fails', async () => {
    exporter.reset()
    const id = await world.agent()
    assert.equal((await world.invoke(id, { input: 'x' })).status, 503)
    await until(() => exporter.getFinishedSpans().length === 1, 'there is no span')
    const [span] = exporter.getFinishedSpans()
    assert.equal(span?.attributes['error.type'], 'agent_unavailable')
    assert.equal(span?.status.code, 2)
  })
})
