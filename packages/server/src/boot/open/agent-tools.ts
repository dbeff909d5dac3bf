/**
 * Tool tokens: with one a worker uses the tools of `mcp/` on behalf of the caller of its agent, within the agent's datasets
 * and as long as the invocation runs.
 */
import type { FastifyRequest } from 'fastify'
import type { McpServices } from '../../agents/mcp/mcp-operations.ts'
import { createToolTokens } from '../../agents/mcp/tool-token.ts'
import type { AgentServices } from '../../agents/services.ts'
import { findCallerUser } from '../../api/access/caller-user.ts'
import type { Secrets } from '../../api/access/secrets/secrets.ts'
import type { Db } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'

export function createAgentTools(
  db: Db,
  secrets: Secrets,
  baseUrl: (request: FastifyRequest) => string,
): Pick<AgentServices, 'toolsFor'> & Pick<McpServices, 'readToolGrant'> {
  const tokens = createToolTokens(secrets)
  return {
    toolsFor:
      (request, caller, { id: agentId, applicationId, datasetIds }) =>
      (invocationId, remainingMs) => {
        const expiresAt = new Date(Date.now() + remainingMs)
        const token = tokens.issue({ invocationId, agentId, caller, applicationId, datasetIds, expiresAt })
        return { mcpUrl: `${baseUrl(request)}/api/v1/mcp`, token, expiresAt: expiresAt.toISOString() }
      },
    // Records are written a little later than the token, so only one that says so is over; they go with the agent.
    async readToolGrant(token) {
      const grant = tokens.read(token)
      if (!grant) return undefined
      const [running] = await db.query(sql`
        SELECT FROM svc.agents WHERE id = ${grant.agentId}::uuid AND NOT EXISTS (
          SELECT FROM svc.agent_invocations WHERE id = ${grant.invocationId}::uuid AND status <> 'running')`)
      if (!running) return undefined
      const { applicationId, toolsOf } = grant.caller
      if (toolsOf?.userId == null) return grant
      const user = await findCallerUser(db, applicationId, toolsOf.userId)
      return user && { ...grant, caller: { ...grant.caller, user } }
    },
  }
}
