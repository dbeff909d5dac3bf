/**
 * The ACL as a grid of classes and levels. A click cycles a cell through nothing, all, and the resources selected by name.
 * The grid is one tab stop; arrow keys move within it.
 */
import { type KeyboardEvent, type ReactElement, useRef, useState } from 'react'
import {
  type AclLevel,
  aclClasses,
  aclLevels,
  hasLevel,
  type Permissions,
} from '../../../../../server/src/api/access/grants.ts'
import { Icon } from '../../../components/icon.tsx'
import classes from '../keys/key-editor.module.css'
import {
  type AclRow,
  hasEffect,
  isInherited,
  isPartOfWrite,
  type LevelGrant,
  type Matrix,
  matrixOf,
  nextGrant,
  permissionsOf,
  withCell,
} from './acl-matrix.ts'
import { classTitle } from './acl-sentence.ts'
import { ResourceChooser } from './resource-chooser.tsx'
import type { Resource, Resources } from './resources.ts'

const rows: readonly AclRow[] = [...aclClasses, '*']
const levelTitles: Record<AclLevel, string> = { read: 'read', append: 'append', write: 'write', execute: 'execute' }

interface AclGridProps {
  /** Of the grid, for screen readers. */
  label: string
  permissions: Permissions
  resources: Resources
  onChange(permissions: Permissions): void
}

interface AclCell {
  row: AclRow
  level: AclLevel
}

export function AclGrid({ label, permissions, resources, onChange }: AclGridProps): ReactElement {
  const matrix = matrixOf(permissions)
  const [active, setActive] = useState<AclCell>({ row: 'datasets', level: 'read' })
  const [choosing, setChoosing] = useState<AclCell | null>(null)
  // Remembers the selected resources while a cell cycles through its states.
  const chosen = useRef(new Map<string, readonly string[]>())
  const change = ({ row, level }: AclCell, grant: LevelGrant) => {
    if (Array.isArray(matrix[row][level])) chosen.current.set(`${row} ${level}`, matrix[row][level])
    onChange(permissionsOf(withCell(matrix, row, level, grant)))
  }
  const cycle = (place: AclCell) => {
    const grant = matrix[place.row][place.level]
    const ids = chosen.current.get(`${place.row} ${place.level}`)
    change(place, nextGrant(grant, ids ?? (typeof grant === 'string' ? [] : grant)))
  }
  const choose = (aclClass: AclRow, levels: readonly AclLevel[], ids: readonly string[]) => {
    const grant = ids.length === 0 ? 'none' : ids
    onChange(permissionsOf(levels.reduce((next, level) => withCell(next, aclClass, level, grant), matrix)))
    setChoosing(null)
  }
  const rest = { label, matrix, resources, active, onActive: setActive, onCycle: cycle, onChoose: setChoosing }
  return (
    <>
      <GridTable {...rest} />
      {choosing && choosing.row !== '*' && (
        <ResourceChooser
          aclClass={choosing.row}
          level={choosing.level}
          grant={matrix[choosing.row][choosing.level]}
          resources={resources[choosing.row] ?? []}
          onClose={() => setChoosing(null)}
          onChoose={(levels, ids) => choose(choosing.row, levels, ids)}
        />
      )}
    </>
  )
}

interface GridProps {
  label: string
  matrix: Matrix
  resources: Resources
  active: AclCell
  onActive(place: AclCell): void
  onCycle(place: AclCell): void
  onChoose(place: AclCell): void
}

function GridTable(props: GridProps): ReactElement {
  const table = useRef<HTMLTableElement>(null)
  const move = (event: KeyboardEvent) => {
    const next = moved(props.active, event.key)
    if (!next) return
    event.preventDefault()
    props.onActive(next)
    table.current?.querySelector<HTMLButtonElement>(`[data-cell="${next.row} ${next.level}"]`)?.focus()
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table whose cells are one tab stop is a grid
    <table role="grid" aria-label={props.label} ref={table} className={classes.grid} onKeyDown={move}>
      <thead>
        <tr>
          <th scope="col">
            <span className="visually-hidden">Kind of record</span>
          </th>
          {aclLevels.map((level) => (
            <th key={level} scope="col">
              {levelTitles[level]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row} data-rest={row === '*'}>
            <th scope="row">
              {classTitle(row)}
              {classTitle(row).toLowerCase().replaceAll(' ', '') !== row && <code>{row}</code>}
            </th>
            {aclLevels.map((level) => (
              <td key={level}>{hasLevel(row, level) && <GridCell {...props} place={{ row, level }} />}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const steps: Record<string, [down: number, right: number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
}

/** The cell that a key moves to, or null. Cells without a level are passed over. */
function moved({ row, level }: AclCell, key: string): AclCell | null {
  if (key === 'Home') return { row, level: 'read' }
  if (key === 'End') return { row, level: 'execute' }
  const [down, right] = steps[key] ?? [0, 0]
  if (down === 0 && right === 0) return null
  let [y, x] = [rows.indexOf(row) + down, aclLevels.indexOf(level) + right]
  for (;;) {
    const next = { row: rows[y], level: aclLevels[x] }
    if (!next.row || !next.level) return null
    if (hasLevel(next.row, next.level)) return next as AclCell
    y += down
    x += right
  }
}

function GridCell({ matrix, resources, active, place, onActive, onCycle, onChoose }: GridProps & { place: AclCell }) {
  const { row, level } = place
  const grant = matrix[row][level]
  const records = row === '*' ? undefined : resources[row]
  const label = `${classTitle(row)}, ${level}`
  const value = grantInWords(grant, records)
  return (
    <div
      className={classes.cell}
      data-grant={typeof grant === 'string' ? grant : 'some'}
      data-inherited={isInherited(matrix, row, level) || isPartOfWrite(matrix, row, level)}
    >
      <button
        type="button"
        aria-label={`${label}: ${value.spoken}`}
        data-cell={`${row} ${level}`}
        tabIndex={active.row === row && active.level === level ? 0 : -1}
        title={titleOf(matrix, place)}
        onFocus={() => onActive(place)}
        onClick={() => onCycle(place)}
        onKeyDown={(event) => {
          if (event.key === 'F2' && records) onChoose(place)
        }}
      >
        {value.text}
      </button>
      {records && (
        <button
          type="button"
          tabIndex={-1}
          aria-label={`Choose: ${label}`}
          title="Choose by name"
          onClick={() => onChoose(place)}
        >
          <Icon name="more" size={14} />
        </button>
      )}
    </div>
  )
}

function titleOf(matrix: Matrix, { row, level }: AclCell): string | undefined {
  if (isPartOfWrite(matrix, row, level)) return 'A part of write.'
  if (!hasEffect(row, level)) return 'No operation asks for this.'
  return level === 'append' ? 'Adds rows, and nothing else.' : undefined
}

function grantInWords(grant: LevelGrant, records: readonly Resource[] | undefined): { text: string; spoken: string } {
  if (grant === 'none') return { text: '–', spoken: 'nothing' }
  if (grant === 'all') return { text: 'all', spoken: 'all' }
  const text = records ? `${grant.length} of ${records.length}` : `${grant.length} ${grant.length === 1 ? 'id' : 'ids'}`
  return { text, spoken: text }
}
