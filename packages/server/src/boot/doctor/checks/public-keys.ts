import { countFormerPublicKeys, type FormerPublicKeys } from '../../../api/access/former-public-keys.ts'
import { compileSql, type Sql } from '../../../kernel/db/sql.ts'
import { type Check, type CheckContext, type Finding, isEmbedded, ok, warning } from '../check.ts'

/** Public keys: those of earlier versions may do more than pages need. */
export const publicKeyChecks: readonly Check[] = [
  {
    name: 'public keys',
    async run(context) {
      const keys = await findKeys(context)
      if (!keys) return []
      if (keys.length === 0) return ok('No public key may do more than pages need.')
      const others = keys.slice(maxNamed).length
      const more = others > 0 ? [ok(`${others} more applications have such keys.`)] : []
      return [...keys.slice(0, maxNamed).map(describe), ...more]
    },
  },
]

const maxNamed = 20

function describe({ application, id, count }: FormerPublicKeys): Finding {
  const keys = count === 1 ? '1 public key that reads and executes' : `${count} public keys that read and execute`
  return warning(
    `The application "${application}" has ${keys} everything, as earlier versions made them: ` +
      'users (with e-mail addresses), contact points, agents, databases, uploads and keys, beside data and maps.',
    `npm start -- create-key --application ${id} --permissions public makes a narrow one. Put it into the pages; what a page ` +
      'needs besides is granted by id. Then delete the old key: npm start -- keys ' +
      `${id} shows it, DELETE /api/v1/apikeys/KEY deletes it; or one click in the console, under API keys.`,
  )
}

/** Undefined if nobody can be asked: without PostgreSQL, or an embedded database on which no server runs. */
async function findKeys({
  config,
  database,
  askServer,
}: CheckContext): Promise<readonly FormerPublicKeys[] | undefined> {
  if (isEmbedded(config)) {
    const answer = await askServer?.(config.DATA_DIR, 'former-public-keys').catch(() => undefined)
    return answer === undefined ? undefined : JSON.parse(answer)
  }
  const client = await database()
  if (!client) return undefined
  const query = async <R>(statement: Sql): Promise<R[]> => {
    const { text, values } = compileSql(statement)
    return (await client.query(text, values)).rows as R[]
  }
  // Without its table there are no keys.
  return countFormerPublicKeys({ query }).catch(() => undefined)
}
