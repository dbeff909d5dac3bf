/** The list of datasets, with search by name, type and tag. */
import { getRouteApi } from '@tanstack/react-router'
import { lazy, type ReactElement, Suspense, useEffect, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Empty } from '../../components/note.tsx'
import { layout, Page } from '../../components/page.tsx'
import { formatNumber } from '../../format.ts'
import { useMay } from '../../session/session.tsx'
import { openUploadDialog } from '../../uploads/upload-dialog-store.ts'
import { useUploadRefusal } from '../../uploads/use-upload-refusal.ts'
import { AddData } from './add-data.tsx'
import type { Addable, DataSearch } from './data-search.ts'
import { DataToolbar } from './data-toolbar.tsx'
import { DatasetList, ListSkeleton } from './dataset-list.tsx'
import { FolderList } from './picked/folder-list.tsx'
import { PickedBar } from './picked/picked-bar.tsx'
import { useDatasetCount, useDatasets, useTileSources } from './use-datasets.ts'

const NewDatasetDialog = lazy(() =>
  import('./new-dataset-dialog.tsx').then(({ NewDatasetDialog }) => ({ default: NewDatasetDialog })),
)
const NewTableDialog = lazy(() =>
  import('./new-table/new-table-dialog.tsx').then(({ NewTableDialog }) => ({ default: NewTableDialog })),
)
const route = getRouteApi('/shell/data')

export function DataPage(): ReactElement {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const count = useDatasetCount()
  const change = (changes: Partial<DataSearch>, replace = false) =>
    void navigate({ search: (old) => withChanges(old, changes), replace })
  const { add } = search
  useEffect(() => {
    if (add !== 'file') return
    openUploadDialog()
    void navigate({ search: ({ add: _, ...rest }) => rest, replace: true })
  }, [add, navigate])
  return (
    <Page
      title="Data"
      facts={<Facts search={search} count={count} />}
      actions={<AddData onAdd={(type) => change({ add: type })} />}
      isPadded={false}
    >
      {count === 0 ? (
        <NoData />
      ) : (
        <>
          <DataToolbar search={search} onChange={change} />
          {!isFiltered(search) && <FolderList onOpen={(tag) => change({ tag })} />}
          <Hits search={search} onChange={change} />
        </>
      )}
      <Suspense>
        {add && add !== 'file' && <AddDialog way={add} onClose={() => change({ add: undefined }, true)} />}
      </Suspense>
    </Page>
  )
}

interface AddDialogProps {
  way: Exclude<Addable, 'file'>
  onClose(): void
}

function AddDialog({ way, onClose }: AddDialogProps): ReactElement {
  return way === 'new-table' ? <NewTableDialog onClose={onClose} /> : <NewDatasetDialog type={way} onClose={onClose} />
}

function withChanges(search: DataSearch, changes: Partial<DataSearch>): DataSearch {
  return Object.fromEntries(Object.entries({ ...search, ...changes }).filter(([, value]) => value !== undefined))
}

const isFiltered = ({ q, type, tag }: DataSearch): boolean => Boolean(q || type || tag)

interface FactsProps {
  search: DataSearch
  count: number | undefined
}

function Facts({ search, count }: FactsProps): ReactElement | null {
  const { data } = useDatasets(search)
  if (count === undefined || !data) return null
  const all = `${formatNumber(count)} ${count === 1 ? 'dataset' : 'datasets'}`
  return <>{isFiltered(search) ? `${formatNumber(data.pages.at(-1)?.total ?? 0)} of ${all}` : all}</>
}

const nothing: ReadonlySet<string> = new Set()

interface HitsProps {
  search: DataSearch
  onChange(changes: Partial<DataSearch>): void
}

function Hits({ search, onChange }: HitsProps): ReactElement {
  const { data, error, refetch, isPlaceholderData, hasNextPage, fetchNextPage, isFetchingNextPage } =
    useDatasets(search)
  const pages = data?.pages ?? []
  const [picked, setPicked] = useState<ReadonlySet<string>>(nothing)
  const tiles = useTileSources(pages, useMay()('tiles', 'read'))
  if (error && !data) {
    return (
      <div className={layout.padded}>
        <ErrorNote error={error} onRetry={() => void refetch()} />
      </div>
    )
  }
  if (!data) return <ListSkeleton />
  const total = pages.at(-1)?.total ?? 0
  const rows = pages.flatMap((page) => page.rows)
  if (rows.length === 0)
    return <NothingFound onClear={() => onChange({ q: undefined, type: undefined, tag: undefined })} />
  return (
    <>
      <PickedBar
        picked={rows.filter(({ id }) => picked.has(id))}
        folder={search.tag}
        onDone={() => setPicked(nothing)}
      />
      <DatasetList
        rows={rows}
        tiles={tiles}
        total={total}
        sort={search.sort}
        isOld={isPlaceholderData}
        picked={picked}
        onPick={setPicked}
        onSort={(sort) => onChange({ sort })}
        onTag={(tag) => onChange({ tag })}
        {...(hasNextPage && { onMore: () => void fetchNextPage(), isLoadingMore: isFetchingNextPage })}
      />
    </>
  )
}

interface NothingFoundProps {
  onClear(): void
}

function NothingFound({ onClear }: NothingFoundProps): ReactElement {
  return (
    <Empty title="No dataset matches" action={<Button onClick={onClear}>Clear the filters</Button>}>
      <p>Names, descriptions and tags are searched.</p>
    </Empty>
  )
}

function NoData(): ReactElement {
  const refusal = useUploadRefusal()
  return (
    <Empty
      title="No datasets yet"
      action={
        <Button variant="primary" icon="upload" disabledReason={refusal} onClick={() => openUploadDialog()}>
          Upload a file
        </Button>
      }
    >
      <p>
        Datasets are tables, SQL queries and web services that maps and programs read. Drop a file anywhere on this page
        (GeoJSON, Shapefile, GeoPackage, CSV and others), or choose another way at “More ways to add data”.
      </p>
    </Empty>
  )
}
