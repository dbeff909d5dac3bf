/** The tenants of an installation, for master keys. */
import type { Application } from '@graticule/client'
import { useQuery } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Empty, Skeleton } from '../../components/note.tsx'
import { layout, Page } from '../../components/page.tsx'
import { formatNumber } from '../../format.ts'
import { queryKeys } from '../../query-keys.ts'
import { useRefusal, useSession } from '../../session/session.tsx'
import { AccessTabs } from './access-tabs.tsx'
import { EditApplication, NewApplicationDialog } from './application-dialogs.tsx'
import { ApplicationList } from './application-list.tsx'

export function ApplicationsPage(): ReactElement {
  const { access } = useSession()
  if (access.type === 'master') return <Applications />
  return (
    <Page title="Applications" tabs={<AccessTabs />}>
      <Empty title="Applications are for master keys">
        <p>This key works in one application and reaches no other. Sign in with a master key to see all of them.</p>
      </Empty>
    </Page>
  )
}

function Applications(): ReactElement {
  const { unscoped } = useSession()
  const [isMaking, setMaking] = useState(false)
  const [edited, setEdited] = useState<Application | null>(null)
  const refusal = useRefusal()('applications', 'write')
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.applications.list,
    queryFn: ({ signal }) => unscoped.applications.list({ sort: ['name'], limit: 10_000, signal }),
  })
  const make = (
    <Button variant="primary" icon="plus" disabledReason={refusal} onClick={() => setMaking(true)}>
      New application
    </Button>
  )
  return (
    <Page title="Applications" facts={data && countOf(data.length)} actions={make} tabs={<AccessTabs />}>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && (
        <div className={layout.section}>
          <Skeleton height={36} />
          <Skeleton height={36} />
        </div>
      )}
      {data && <ApplicationList applications={data} onEdit={setEdited} />}
      {isMaking && <NewApplicationDialog onClose={() => setMaking(false)} />}
      {edited && <EditApplication application={edited} onClose={() => setEdited(null)} />}
    </Page>
  )
}

const countOf = (count: number): string => `${formatNumber(count)} ${count === 1 ? 'application' : 'applications'}`
