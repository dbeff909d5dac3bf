// An agent that answers questions about the cities of the world: which are the largest of a country, and how many it has.
// With a question it answers that one and ends (npm run example agent -- "What are the largest cities of Japan?");
// without, it serves until Ctrl-C.
import { setTimeout } from 'node:timers/promises'
import { type Invocation, Reject, serveAgent } from '@graticule/agent'
import { createClient } from '@graticule/client'

const { GRATICULE_URL: url = 'http://localhost:8080', GRATICULE_API_KEY: apiKey = '' } = process.env
const client = createClient(url, apiKey)
const [cities] = await client.datasets.list({ filter: { name: 'Cities of the world' } })
if (!cities) throw new Error('This server lacks the dataset "Cities of the world", which its first start makes.')
const datasetId = cities.id

const countries = await client.datasets.query<{ country: string }>(datasetId, {
  distinct: ['country'],
  attributes: ['country'],
})

async function* answer({ input }: Invocation) {
  const place = countries.find(({ country }) => input.toLowerCase().includes(country.toLowerCase()))
  if (!place) throw new Reject('Name a country, as in "What are the largest cities of Japan?"')
  const where = { country: place.country }
  const [found] = await client.datasets.query<{ count: number }>(datasetId, {
    where,
    attributes: ['count(*) as count'],
  })
  yield `${place.country} has ${found?.count} cities of more than 100 000 inhabitants. The largest:\n`
  const largest = client.datasets.rows<{ name: string; population: number }>(datasetId, {
    where,
    order: ['-population'],
    limit: 5,
  })
  for await (const { name, population } of largest) yield `- ${name}: ${population.toLocaleString('en')}\n`
}

const [known] = await client.agents.list({ filter: { name: 'Cities' } })
const { id: agentId } = known ?? (await client.agents.create({ name: 'Cities', type: 'remote' }))
const question = process.argv[2]
const ask = new AbortController()
const serving = serveAgent({ url, apiKey, agentId, ...(question && { signal: ask.signal }) }, answer)

if (question) {
  while ((await client.agents.workers(agentId)).length === 0) await setTimeout(100)
  for await (const event of client.agents.stream(agentId, { input: question })) {
    if (event.type === 'delta') process.stdout.write(event.text)
  }
  ask.abort()
} else {
  console.log(`Ask it with POST ${url}/api/v1/agents/${agentId}/invoke and {"input": "…"}.`)
}
await serving
