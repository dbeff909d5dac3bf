import { AsyncLocalStorage } from 'node:async_hooks'

export type OpenTransaction = { open: boolean }

/**
 * Knows who is inside a transaction. Work in a transaction that waits for the database itself would wait for ever on
 * the embedded database, which has one session, and on PostgreSQL as soon as the pool is used up: it is refused at once.
 */
export type TransactionScope = {
  run<T>(work: (transaction: OpenTransaction) => Promise<T>): Promise<T>
  refuseInside(): void
}

export function createTransactionScope(): TransactionScope {
  const storage = new AsyncLocalStorage<OpenTransaction>()
  return {
    async run(work) {
      const transaction = { open: true }
      try {
        return await storage.run(transaction, () => work(transaction))
      } finally {
        transaction.open = false
      }
    },
    refuseInside() {
      if (storage.getStore()?.open) throw new Error('Inside a transaction use the transaction, not the database')
    },
  }
}

export function assertOpen(transaction: OpenTransaction): void {
  if (!transaction.open) throw new Error('The transaction has ended')
}

/** PostgreSQL answers COMMIT with ROLLBACK, and no error, when a statement of the transaction had failed. */
export function assertCommitted(command: string): void {
  if (command !== 'COMMIT') throw new Error('The transaction was rolled back, because a statement in it had failed')
}

/** For a single statement that left a transaction open, such as a bare BEGIN. */
export const strayTransaction = (): Error => new Error('A statement left a transaction open: use transaction()')
