import type { Operation } from './operation.ts'

/** Cache invalidation: wraps operations so that `tell` is called after those that change the record in their path. */
export function afterWrites<S>(
  operations: readonly Operation<S>[],
  tell: (id: string, services: S) => void,
): Operation<S>[] {
  return operations.map((operation) => {
    if (operation.method === 'GET' || operation.method === 'POST') return operation
    return {
      ...operation,
      async handle(context, input) {
        const answer = await operation.handle(context, input)
        tell(input.params.id ?? '', context.services)
        return answer
      },
    }
  })
}
