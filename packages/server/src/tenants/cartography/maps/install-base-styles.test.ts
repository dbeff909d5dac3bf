import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migratedDatabase } from '../../../../testing/database.ts'
import { raw } from '../../../kernel/db/sql.ts'
import { installBaseStyles } from './install-base-styles.ts'

const style = (name: string) => ({ key: 'plain', name, description: 'A style', style: { version: 8, layers: [] } })

test('base styles are written when they have changed, and not at every start', async () => {
  const { db, close } = await migratedDatabase()
  try {
    const install = (name: string) => db.transaction((tx) => installBaseStyles(tx, [style(name)]))
    const installed = async () => (await db.query(raw('SELECT name, xmin::text FROM svc.base_styles')))[0]
    await install('Plain')
    const first = await installed()
    assert.equal(first?.name, 'Plain')
    let statements = 0
    await db.transaction((tx) =>
      installBaseStyles(
        {
          ...tx,
          query(statement) {
            statements++
            return tx.query(statement)
          },
        },
        [style('Plain')],
      ),
    )
    assert.equal(statements, 1)
    assert.deepEqual(await installed(), first)
    await install('Plainer')
    assert.equal((await installed())?.name, 'Plainer')
  } finally {
    await close()
  }
})
