/** The usage page: of the application of the key; a master key that has chosen none sees all of them. */
import { useParams } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { Empty } from '../../components/note.tsx'
import { Page } from '../../components/page.tsx'
import { useMayReadUsage } from '../../session/application-rights.ts'
import { useSession } from '../../session/session.tsx'
import { AllUsage } from './all-usage.tsx'
import { ApplicationUsage } from './application-usage.tsx'

export function UsagePage(): ReactElement {
  const { applicationId } = useParams({ from: '/shell/usage/{-$applicationId}' })
  const { access } = useSession()
  if (!useMayReadUsage()) return <NotAllowed />
  const isMaster = access.type === 'master'
  if (isMaster && applicationId) {
    return <ApplicationUsage applicationId={applicationId} back={{ to: '/usage', label: 'All applications' }} />
  }
  if (access.application) return <ApplicationUsage applicationId={access.application.id} />
  return <AllUsage />
}

function NotAllowed(): ReactElement {
  return (
    <Page title="Usage">
      <Empty title="This key may not read the usage">
        <p>What an application uses is shown to keys and users with read on their own application.</p>
      </Empty>
    </Page>
  )
}
