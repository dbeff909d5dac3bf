/** The table of a dataset next to its map. Filter, sort order and selection are in the URL. */
import type { Dataset } from '@graticule/client'
import { type ReactElement, useCallback, useState } from 'react'
import { IconButton } from '../../components/button.tsx'
import { Segmented } from '../../components/field.tsx'
import { Note } from '../../components/note.tsx'
import { layout } from '../../components/page.tsx'
import { LiveSign } from '../../live/live-sign.tsx'
import { useMay } from '../../session/session.tsx'
import { useLetter } from '../../shell/shortcuts.ts'
import { useDataset } from './dataset.ts'
import { CellConflicts } from './edit/cells/cell-conflicts.tsx'
import { CellEditLine } from './edit/cells/cell-editor.tsx'
import { ChangeRowsDialog } from './edit/cells/change-rows-dialog.tsx'
import { type CellEditing, useCellEditing } from './edit/cells/use-cell-editing.ts'
import { AddRowButton, RowEditing } from './edit/row-editing.tsx'
import { formatSort, parseSort, type SortKey, toggleSort } from './sort.ts'
import { ColumnList } from './table/column-list.tsx'
import { DetailsPane, DetailsSheet } from './table/details.tsx'
import { FilterBar } from './table/filter/filter-bar.tsx'
import { DataGrid } from './table/grid/data-grid.tsx'
import { MapPane } from './table/map/map-pane.tsx'
import { MapViewContext } from './table/map/map-view-box.ts'
import { Split } from './table/split.tsx'
import { StatusLine } from './table/status-line.tsx'
import classes from './table/table.module.css'
import { TableNotes } from './table/table-notes.tsx'
import { type TableState, useTable } from './table/use-table.ts'
import { useView } from './view.ts'

export function TableTab(): ReactElement {
  const dataset = useDataset()
  const may = useMay()
  if (!may('datasets', 'execute', dataset.id))
    return (
      <div className={layout.padded}>
        <Note kind="warn">This key may not read the rows of this dataset: it needs execute on datasets.</Note>
      </div>
    )
  return <Table key={dataset.id} dataset={dataset} />
}

interface TableProps {
  dataset: Dataset
}

function Table({ dataset }: TableProps): ReactElement {
  const table = useTable(dataset)
  useLetter('m', () => table.showMap(!table.isMapShown))
  useLetter('f', () => table.selection.onFly(null))
  return (
    <MapViewContext value={table.view}>
      <RowEditing table={table}>
        <EditedTable table={table} />
      </RowEditing>
    </MapViewContext>
  )
}

interface EditedTableProps {
  table: TableState
}

/** What is being edited stays while a phone shows the map in place of the table. */
function EditedTable({ table }: EditedTableProps): ReactElement {
  const { dataset, isPhone, isMapShown, open } = table
  const [wanted, setWanted] = useState<string | null>(null)
  const cells = useCellEditing(table)
  const isBeside = !isPhone && (isMapShown || open !== null)
  return (
    <div className={classes.tab}>
      <div className={classes.toolbar}>
        <FilterBar wanted={wanted} onWanted={setWanted} />
        <AddRowButton />
        <LiveSign state={table.live.state} />
        <ColumnList table={table.columns} />
        {table.hasMap && <MapSwitch {...table} />}
      </div>
      {isPhone && isMapShown ? (
        <TableMap {...table} />
      ) : (
        <Split
          start={<TablePane table={table} cells={cells} onFilter={setWanted} />}
          end={isBeside ? <Side {...table} /> : null}
        />
      )}
      {isPhone && open && <DetailsSheet {...table} open={open} onFly={table.flyTo} onClose={table.close} />}
      {cells && <CellConflicts cells={cells} dataset={dataset} />}
    </div>
  )
}

interface TablePaneProps {
  table: TableState
  cells: CellEditing | null
  onFilter(attribute: string): void
}

function TablePane({ table, cells, onFilter }: TablePaneProps): ReactElement {
  const { dataset, rows, selection, isPhone, sort } = table
  const [range, setRange] = useState<readonly [number, number]>([0, 0])
  const [isChanging, setChanging] = useState(false)
  const onRange = useCallback((first: number, last: number) => setRange([first, last]), [])
  return (
    <div className={classes.pane}>
      <TableNotes rows={rows} dataset={dataset} />
      <DataGrid
        ref={table.grid}
        dataset={dataset}
        rows={rows}
        onRange={onRange}
        onFilter={onFilter}
        {...useSorting()}
        table={table.columns}
        shown={table.shown}
        sort={parseSort(sort)}
        cells={cells}
        isSelected={selection.isSelected}
        isChanged={table.live.isChanged}
        onClick={(index, click) => {
          selection.onRow(index, click)
          if (isPhone) table.openRow(index)
        }}
        onOpen={table.openRow}
        onFly={selection.onFly}
        onClear={() => (table.open ? table.close() : selection.clear())}
      />
      {cells && <CellEditLine cells={cells} />}
      {cells && isChanging && (
        <ChangeRowsDialog
          dataset={dataset}
          count={selection.ids.length}
          cells={cells}
          onClose={() => setChanging(false)}
        />
      )}
      <StatusLine
        rows={rows}
        range={range}
        selection={selection}
        cells={cells}
        onDetails={table.openSelected}
        onChangeAll={() => setChanging(true)}
      />
    </div>
  )
}

function Side(table: TableState): ReactElement {
  return (
    <div className={classes.side}>
      {table.isMapShown && <TableMap {...table} />}
      {table.open && <DetailsPane {...table} open={table.open} onFly={table.flyTo} onClose={table.close} />}
    </div>
  )
}

function TableMap({ dataset, where, selected, view, selection }: TableState): ReactElement {
  return (
    <div className={classes.map}>
      <MapPane
        dataset={dataset}
        where={where}
        selected={selected}
        view={view}
        flight={selection.flight}
        onFeature={selection.onFeature}
      />
    </div>
  )
}

function MapSwitch({ isPhone, isMapShown, showMap }: TableState): ReactElement {
  if (!isPhone)
    return (
      <IconButton
        icon="maps"
        label="Map beside the table (m)"
        isPressed={isMapShown}
        onClick={() => showMap(!isMapShown)}
      />
    )
  return (
    <Segmented
      label="What to show"
      value={isMapShown ? 'map' : 'table'}
      options={[
        { value: 'table', label: 'Table' },
        { value: 'map', label: 'Map' },
      ]}
      onChange={(shown) => showMap(shown === 'map')}
    />
  )
}

function useSorting() {
  const { sort, change } = useView()
  return {
    onSort: (attribute: string, isAdded: boolean) =>
      change({ sort: formatSort(toggleSort(parseSort(sort), attribute, isAdded)) }, true),
    onSortBy: (keys: SortKey[]) => change({ sort: formatSort(keys) }, true),
  }
}
