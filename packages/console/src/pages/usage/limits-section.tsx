/** The limits of an application, with what is used of them; a master key changes them. */
import type { Usage } from '@graticule/client'
import { type ReactElement, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { layout } from '../../components/page.tsx'
import { formatBytes, formatNumber } from '../../format.ts'
import { useSession } from '../../session/session.tsx'
import { LimitsDialog } from './limits-dialog.tsx'
import { Meter } from './meter.tsx'
import classes from './usage.module.css'

interface LimitsSectionProps {
  usage: Usage
}

export function LimitsSection({ usage }: LimitsSectionProps): ReactElement {
  const { access } = useSession()
  const [isEdited, setEdited] = useState(false)
  const { storage, uploads, limits } = usage
  return (
    <section className={layout.section} aria-labelledby="limits">
      <div className={classes.head}>
        <h2 id="limits">Limits</h2>
        {access.type === 'master' && (
          <Button icon="edit" onClick={() => setEdited(true)}>
            Change limits
          </Button>
        )}
      </div>
      <dl className={classes.limits}>
        <Used label="Storage" used={storage.bytes} limit={limits.storageBytes} format={formatBytes} />
        <Used
          label="Unfinished uploads"
          used={uploads.running + uploads.waiting}
          limit={limits.unfinishedUploads}
          format={formatNumber}
        />
        <Rate label="Queries at once" limit={limits.queriesAtOnce} unit="in each replica" />
        <Rate label="Requests per second" limit={limits.requestsPerSecond} unit="for each key" />
      </dl>
      {isEdited && <LimitsDialog usage={usage} onClose={() => setEdited(false)} />}
    </section>
  )
}

interface UsedProps {
  label: string
  used: number
  limit: number | null
  format(value: number): string
}

function Used({ label, used, limit, format }: UsedProps): ReactElement {
  const text = limit === null ? `${format(used)}, no limit` : `${format(used)} of ${format(limit)}`
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        {text}
        {limit !== null && <Meter label={label} text={text} value={used} limit={limit} />}
      </dd>
    </div>
  )
}

interface RateProps {
  label: string
  limit: number | null
  unit: string
}

function Rate({ label, limit, unit }: RateProps): ReactElement {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{limit === null ? 'no limit' : `${formatNumber(limit)} ${unit}`}</dd>
    </div>
  )
}
