/** The page of a dataset, with tabs for table, query, attributes, rules, snippets and settings. */
import { ApiError, type Dataset } from '@graticule/client'
import { Link, Outlet } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { buttonClass } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Icon } from '../../components/icon.tsx'
import { Empty, Skeleton } from '../../components/note.tsx'
import { LinkTabs, layout, Page } from '../../components/page.tsx'
import { formatRows } from '../../format.ts'
import { useIsPhone } from '../../media.ts'
import { useMay } from '../../session/session.tsx'
import { geometryOf, keyOf, useDatasetRecord, useRowEstimate } from './dataset.ts'
import { ExportMenu } from './export-menu.tsx'
import { useSourceFile } from './source-file.ts'
import { useView } from './view.ts'

const toData = { to: '/data', label: 'Back to Data' }
const tabs = ['table', 'query', 'attributes', 'rules', 'snippets', 'settings'] as const

export function DatasetPage(): ReactElement {
  const { data: dataset, error, refetch } = useDatasetRecord()
  if (dataset) return <LoadedPage dataset={dataset} />
  if (error instanceof ApiError && error.status === 404) return <NoDataset />
  return (
    <Page title="Dataset" back={toData}>
      {error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <PageSkeleton />}
    </Page>
  )
}

interface LoadedPageProps {
  dataset: Dataset
}

function LoadedPage({ dataset }: LoadedPageProps): ReactElement {
  const { where, sort } = useView()
  return (
    <Page
      title={dataset.name}
      facts={<Facts dataset={dataset} />}
      back={toData}
      actions={<Actions dataset={dataset} />}
      tabs={
        <LinkTabs
          search={{ ...(where && { where }), ...(sort && { sort }) }}
          label="Parts of the dataset"
          tabs={tabs.map((tab) => ({ to: `/data/${dataset.id}/${tab}`, label: capitalised(tab) }))}
        />
      }
      isPadded={false}
    >
      <Outlet />
    </Page>
  )
}

interface ActionsProps {
  dataset: Dataset
}

/** "New map" opens an unsaved map with the dataset. */
function Actions({ dataset }: ActionsProps): ReactElement {
  const hasMap = geometryOf(dataset) !== undefined
  const isPhone = useIsPhone()
  return (
    <>
      <ExportMenu dataset={dataset} />
      {hasMap && (
        <Link to="/maps" search={{ dataset: dataset.id }} aria-label="Style" className={buttonClass()}>
          <Icon name="palette" />
          {!isPhone && 'Style'}
        </Link>
      )}
    </>
  )
}

const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

interface FactsProps {
  dataset: Dataset
}

/** table · about 1 000 000 rows · key id · from cities.gpkg */
function Facts({ dataset }: FactsProps): ReactElement {
  const may = useMay()
  const rows = useRowEstimate(dataset, may('datasets', 'execute', dataset.id))
  const file = useSourceFile(dataset)
  const key = keyOf(dataset).map(({ name }) => name)
  const facts = [
    dataset.type,
    // A table that was made empty has had no estimate since.
    rows !== null && rows > 0 && formatRows(rows),
    key.length > 0 ? `key ${key.join(', ')}` : 'no key',
    file && `from ${file}`,
  ]
  return <>{facts.filter(Boolean).join(' · ')}</>
}

/** 404 may also mean that the key has no access. */
function NoDataset(): ReactElement {
  return (
    <Page title="Dataset not found" back={toData}>
      <Empty
        title="There is no such dataset here"
        action={
          <Link to="/data" className={buttonClass('primary')}>
            Go to Data
          </Link>
        }
      >
        <p>It may have been deleted, it may belong to another application, or this key may not read it.</p>
      </Empty>
    </Page>
  )
}

function PageSkeleton(): ReactElement {
  return (
    <div className={layout.section}>
      <Skeleton width="40%" height={24} />
      <Skeleton height={32} />
      <Skeleton height={240} />
    </div>
  )
}
