import type { Operation } from './operation.ts'

/** The same operations; those that change the record in their address tell of it afterwards. */
export function afterWrites(operations: readonly Operation[], tell: (id: string) => void): Operation[] {
  return operations.map((operation) => {
    if (operation.method === 'GET' || operation.method === 'POST') return operation
    return {
      ...operation,
      async handle(context, input) {
        const answer = await operation.handle(context, input)
        tell(input.params.id ?? '')
        return answer
      },
    }
  })
}
