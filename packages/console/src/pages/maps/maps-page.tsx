/** The page of maps: the application's styles with thumbnails, and its tile sources. */
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactElement, useState } from 'react'
import { Button, buttonClass } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Segmented, TextField } from '../../components/field.tsx'
import { Icon } from '../../components/icon.tsx'
import { Empty, Skeleton } from '../../components/note.tsx'
import { Page } from '../../components/page.tsx'
import { useClient, useRefusal } from '../../session/session.tsx'
import { MapCard } from './list/map-card.tsx'
import classes from './list/maps-page.module.css'
import { NewMapDialog } from './list/new-map-dialog.tsx'
import { NewTileSourceDialog } from './list/new-tile-source-dialog.tsx'
import { TileSourceList } from './list/tile-source-list.tsx'
import { isBaseStyle, type StyleSummary, styleListQuery } from './styles-query.ts'

const route = getRouteApi('/shell/maps')

export function MapsPage(): ReactElement {
  const { q = '', part } = route.useSearch()
  const navigate = route.useNavigate()
  const refusal = useRefusal()
  const [isAdding, setAdding] = useState(false)
  const isTiles = part === 'tiles'
  return (
    <Page
      title="Maps"
      actions={
        <Button
          variant="primary"
          icon="plus"
          disabledReason={refusal(isTiles ? 'tiles' : 'styles', 'write')}
          onClick={() => setAdding(true)}
        >
          {isTiles ? 'New tile source' : 'New map'}
        </Button>
      }
    >
      <div className={classes.tools}>
        <Segmented
          label="What is listed"
          value={isTiles ? 'tiles' : 'maps'}
          options={[
            { value: 'maps', label: 'Maps', icon: 'maps' },
            { value: 'tiles', label: 'Tile sources', icon: 'tiles' },
          ]}
          onChange={(next) => void navigate({ search: next === 'tiles' ? { part: next } : {} })}
        />
        <TextField
          label="Search"
          isLabelHidden
          type="search"
          placeholder={isTiles ? 'Search tile sources' : 'Search maps'}
          value={q}
          onChange={(text) =>
            void navigate({ search: ({ q: _, ...now }) => (text ? { ...now, q: text } : now), replace: true })
          }
        />
      </div>
      {isTiles ? <TileSourceList search={q} /> : <MapList search={q} onNew={() => setAdding(true)} />}
      {isTiles && isAdding && <NewTileSourceDialog onClose={() => setAdding(false)} />}
      {!isTiles && <NewMapDialog isOpen={isAdding} onClose={() => setAdding(false)} />}
    </Page>
  )
}

interface MapListProps {
  search: string
  onNew(): void
}

function MapList({ search, onNew }: MapListProps): ReactElement {
  const client = useClient()
  const { data, error, refetch } = useQuery(styleListQuery(client))
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={220} />
  const wanted = search.trim().toLowerCase()
  const matches = data.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(wanted))
  const own = matches.filter((style) => !isBaseStyle(style))
  const base = matches.filter(isBaseStyle)
  if (wanted && matches.length === 0) return <NothingFound count={data.length} />
  return (
    <>
      {own.length > 0 && <Cards label="Your maps" styles={own} />}
      {own.length === 0 && !wanted && (
        <Empty
          title="Your maps would be here"
          action={
            <Button icon="plus" onClick={onNew}>
              New map
            </Button>
          }
        >
          <p>A map shows datasets on a base map, coloured by their values. It can be shared by a link.</p>
        </Empty>
      )}
      {base.length > 0 && <Cards label="Base maps" styles={base} />}
    </>
  )
}

interface NothingFoundProps {
  count: number
}

function NothingFound({ count }: NothingFoundProps): ReactElement {
  return (
    <p>
      0 of {count} maps.{' '}
      <Link to="/maps" className={buttonClass('ghost')}>
        <Icon name="close" /> Clear the search
      </Link>
    </p>
  )
}

interface CardsProps {
  label: string
  styles: readonly StyleSummary[]
}

function Cards({ label, styles }: CardsProps): ReactElement {
  return (
    <section className={classes.group}>
      <h2>{label}</h2>
      <ul className={classes.cards} aria-label={label}>
        {styles.map((style) => (
          <MapCard key={style.id} style={style} />
        ))}
      </ul>
    </section>
  )
}
