/** The invocations of an agent, latest first, with duration, usage and outcome. */
import type { Agent, AgentInvocation } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { Button, buttonClass } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Segmented } from '../../components/field.tsx'
import { Empty, Skeleton, StatusDot } from '../../components/note.tsx'
import { layout } from '../../components/page.tsx'
import { useToast } from '../../components/toast.tsx'
import { formatDate, formatMs, formatNumber, formatRelative } from '../../format.ts'
import { queryKeys } from '../../query-keys.ts'
import { useClient, useRefusal } from '../../session/session.tsx'
import { type HistoryPage, useHistory } from './agent-queries.ts'
import type { AgentSearch } from './agent-search.ts'
import classes from './agents.module.css'
import { type InvocationStatus, invocationDots, invocationStatuses, usageText } from './invocation-labels.ts'
import { InvocationSheet } from './invocation-sheet.tsx'

const pageSize = 50
const from = '/shell/agents/$agentId/$tab'

interface HistoryTabProps {
  agent: Agent
}

export function HistoryTab({ agent }: HistoryTabProps): ReactElement {
  const { status, invocation, offset = 0 } = useSearch({ from })
  const navigate = useNavigate()
  const set = (search: AgentSearch) =>
    void navigate({
      to: '/agents/$agentId/$tab',
      params: { agentId: agent.id, tab: 'history' },
      search: { ...search, offset: search.offset || undefined },
    })
  const params = { limit: pageSize, ...(offset ? { offset } : {}), ...(status ? { status } : {}) }
  const { data, error, isPlaceholderData, refetch } = useHistory(agent.id, params)
  const opened = data?.invocations.find(({ id }) => id === invocation)
  return (
    <div className={layout.section}>
      <div>
        <Segmented
          label="Status"
          value={status ?? 'all'}
          options={[
            { value: 'all', label: 'All' },
            ...invocationStatuses.map((value) => ({ value, label: capital(value) })),
          ]}
          onChange={(value) => set(value === 'all' ? {} : { status: value as InvocationStatus })}
        />
      </div>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton height={240} />}
      {data && data.invocations.length === 0 && (
        <NoInvocations agentId={agent.id} status={status} onClear={() => set({})} />
      )}
      {data && data.invocations.length > 0 && (
        <div className={isPlaceholderData ? classes.dimmed : undefined}>
          <Invocations agent={agent} page={data} onOpen={(id) => set({ status, offset, invocation: id })} />
        </div>
      )}
      {data && <Pager offset={offset} page={data} onGo={(next) => set({ status, offset: next })} />}
      {opened && <InvocationSheet agent={agent} invocation={opened} onClose={() => set({ status, offset })} />}
    </div>
  )
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

interface NoInvocationsProps {
  agentId: string
  status: string | undefined
  onClear(): void
}

function NoInvocations({ agentId, status, onClear }: NoInvocationsProps): ReactElement {
  if (status) {
    return (
      <Empty title={`No invocation is ${status}`} action={<Button onClick={onClear}>Show all</Button>}>
        <p>Invocations are kept for 30 days.</p>
      </Empty>
    )
  }
  return (
    <Empty
      title="Nothing was asked yet"
      action={
        <Link to="/agents/$agentId/$tab" params={{ agentId, tab: 'playground' }} className={buttonClass()}>
          Ask something
        </Link>
      }
    >
      <p>Each question is listed here with its times, tokens and how it ended, for 30 days.</p>
    </Empty>
  )
}

interface InvocationsProps {
  agent: Agent
  page: HistoryPage
  onOpen(id: string): void
}

function Invocations({ agent, page, onOpen }: InvocationsProps): ReactElement {
  return (
    <table className={layout.list}>
      <thead>
        <tr>
          <th>Asked</th>
          <th>Status</th>
          <th data-align="end" className={classes.wideOnly}>
            First word
          </th>
          <th data-align="end">Total</th>
          <th data-align="end" className={classes.wideOnly}>
            Used
          </th>
          <th className={classes.wideOnly}>Model</th>
          <th className={classes.wideOnly}>Worker</th>
          <th>
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {page.invocations.map((invocation) => (
          <InvocationRow key={invocation.id} agent={agent} invocation={invocation} onOpen={onOpen} />
        ))}
      </tbody>
    </table>
  )
}

const time = (ms: number | null): string => (ms === null ? '–' : formatMs(ms))

interface InvocationRowProps extends Omit<InvocationsProps, 'page'> {
  invocation: AgentInvocation
}

function InvocationRow({ agent, invocation, onOpen }: InvocationRowProps): ReactElement {
  const { id, createdAt, status, errorCode, ttfbMs, durationMs, usage, model, workerId } = invocation
  return (
    <tr>
      <td title={formatDate(createdAt)}>{formatRelative(createdAt)}</td>
      <td>
        <StatusDot kind={invocationDots[status]}>{status}</StatusDot>
        {errorCode && status === 'failed' && <div className={classes.mono}>{errorCode}</div>}
      </td>
      <td data-align="end" className={classes.wideOnly}>
        {time(ttfbMs)}
      </td>
      <td data-align="end">{time(durationMs)}</td>
      <td data-align="end" className={classes.wideOnly}>
        {usageText(usage) ?? '–'}
      </td>
      <td className={classes.wideOnly}>{model ?? '–'}</td>
      <td className={classes.wideOnly}>{workerId ?? '–'}</td>
      <td data-align="end">
        {status === 'running' ? <CancelButton agent={agent} id={id} /> : null}
        <Button
          variant="ghost"
          aria-label={`Details of the invocation of ${formatDate(createdAt)}`}
          onClick={() => onOpen(id)}
        >
          Details
        </Button>
      </td>
    </tr>
  )
}

interface CancelButtonProps {
  agent: Agent
  id: string
}

function CancelButton({ agent, id }: CancelButtonProps): ReactElement {
  const client = useClient()
  const queryClient = useQueryClient()
  const toast = useToast()
  const refusal = useRefusal()('agents', 'write', agent.id)
  const cancel = useMutation({
    mutationFn: () => client.agents.cancel(agent.id, id),
    onSuccess: () => toast.say({ title: 'The invocation is being cancelled.' }),
    onError: (error) => toast.fail('The invocation was not cancelled.', error),
    onSettled: () => queryClient.invalidateQueries({ queryKey: queryKeys.agents.one(agent.id) }),
  })
  return (
    <Button icon="stop" disabledReason={refusal} disabled={cancel.isPending} onClick={() => cancel.mutate()}>
      Cancel
    </Button>
  )
}

interface PagerProps {
  offset: number
  page: HistoryPage
  onGo(offset: number): void
}

function Pager({ offset, page, onGo }: PagerProps) {
  const last = offset + page.invocations.length
  if (page.total <= pageSize && offset === 0) return null
  return (
    <div className={classes.pager}>
      <Button disabled={offset === 0} onClick={() => onGo(Math.max(0, offset - pageSize))}>
        Newer
      </Button>
      <Button disabled={last >= page.total} onClick={() => onGo(last)}>
        Older
      </Button>
      <span>
        {formatNumber(offset + 1)}–{formatNumber(last)} of {formatNumber(page.total)}
      </span>
    </div>
  )
}
