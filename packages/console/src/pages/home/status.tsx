/** The status section: tile sources, agents online, the server's health. */
import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactElement, ReactNode } from 'react'
import { faultOf } from '../../components/error-note.tsx'
import { StatusDot } from '../../components/note.tsx'
import { formatNumber } from '../../format.ts'
import classes from './home.module.css'
import { useAgents, useHealth, useTileSourceCount } from './home-data.ts'

export function Status(): ReactElement {
  return (
    <section aria-labelledby="status">
      <h2 id="status">Status</h2>
      <ul className={classes.status}>
        <TileSources />
        <Agents />
        <Health />
      </ul>
    </section>
  )
}

interface RowProps {
  link?: LinkProps
  label: string
  children: ReactNode
}

function Row({ link, label, children }: RowProps): ReactElement {
  return (
    <li>
      {link ? <Link {...link}>{label}</Link> : <span>{label}</span>}
      <span className={classes.value}>{children}</span>
    </li>
  )
}

function TileSources(): ReactElement | null {
  const { data } = useTileSourceCount()
  if (data === undefined) return null
  return (
    <Row link={{ to: '/maps', search: { part: 'tiles' } }} label="Tile sources">
      {formatNumber(data)}
    </Row>
  )
}

function Agents(): ReactElement | null {
  const { data } = useAgents()
  if (!data) return null
  const online = data.filter(({ status }) => status === 'online')
  const workers = online.reduce((sum, agent) => sum + agent.workers, 0)
  return (
    <Row link={{ to: '/agents' }} label="Agents">
      {data.length === 0 ? (
        'none yet'
      ) : (
        <StatusDot kind={online.length > 0 ? 'ok' : 'off'}>
          {`${online.length} of ${data.length} online${workers > 0 ? `, ${workers === 1 ? '1 worker' : `${workers} workers`}` : ''}`}
        </StatusDot>
      )}
    </Row>
  )
}

function Health(): ReactElement {
  const { data, error } = useHealth()
  return (
    <Row label="Health">
      {error ? (
        <StatusDot kind="danger">{faultOf(error).message}</StatusDot>
      ) : (
        data && (
          <StatusDot kind={data.status === 'ok' && data.database === 'ok' ? 'ok' : 'warn'}>
            {`server ${data.status}, database ${data.database}`}
          </StatusDot>
        )
      )}
    </Row>
  )
}
