// The limit: Fastify and one prepared single-row SELECT, without keys, ACL, tenants or problem documents.
import Fastify from 'fastify'
import pg from 'pg'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 })
const app = Fastify()

app.get('/ready', () => 'yes')
app.get<{ Params: { id: string } }>('/api/v1/styles/:id', async ({ params }, reply) => {
  const { rows } = await pool.query({
    name: 'style',
    text: 'SELECT id, application_id, created_at, updated_at, metadata, name, description, type, style FROM svc.styles WHERE id = $1',
    values: [params.id],
  })
  return reply.type('application/json').send(JSON.stringify(rows[0]))
})

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
process.on('SIGTERM', () => process.exit())
