/** Whether the caller may change the rules of a dataset. Whom rules bind gets a record without rules, as if there were none. */
import { ApiError, type Dataset } from '@graticule/client'
import { useQuery } from '@tanstack/react-query'
import { queryKeys } from '../../../query-keys.ts'
import { useClient, useRefusal, useSession } from '../../../session/session.tsx'

export interface RuleAccess {
  isLoading: boolean
  /** Why they are only shown. */
  refusal: string | undefined
}

const isBoundAnswer = (error: unknown): boolean => error instanceof ApiError && error.code === 'rule_refused'

const bound =
  'Rules of this dataset bind you: you see and change the rows that they leave you. Whoever manages the dataset can show them to you.'

export function useRuleAccess({ id, rules }: Dataset): RuleAccess {
  const client = useClient()
  const { access } = useSession()
  const refusal = useRefusal()('datasets', 'write', id)
  // A key without a user that may write sees the rules, if there are some.
  const isUnsure = refusal === undefined && rules === null && access.user !== null
  const { error, isLoading } = useQuery({
    queryKey: queryKeys.datasets.one(id, 'rules', 'access'),
    queryFn: ({ signal }) => client.datasets.tryRules(id, {}, { signal }),
    enabled: isUnsure,
  })
  return { isLoading: isUnsure && isLoading, refusal: refusal ?? (isBoundAnswer(error) ? bound : undefined) }
}
