/** The query plan of a tile, with the estimated rows of each node. */
import type { ReactElement } from 'react'
import { formatNumber } from '../../format.ts'
import type { PlanNode } from './tile-explanation.ts'
import classes from './tiles.module.css'

/** From this size on, a sequential scan is marked, because it makes tiles slow. */
const manyRows = 10_000

interface PlanTreeProps {
  node: PlanNode
}

export function PlanTree({ node }: PlanTreeProps): ReactElement {
  return (
    <ul className={classes.plan}>
      <PlanStep node={node} />
    </ul>
  )
}

interface PlanStepProps {
  node: PlanNode
}

function PlanStep({ node }: PlanStepProps): ReactElement {
  const rows = node['Plan Rows'] ?? 0
  const isWarned = node['Node Type'] === 'Seq Scan' && rows > manyRows
  const on = [node['Relation Name'] && `on ${node['Relation Name']}`, node['Index Name'] && `by ${node['Index Name']}`]
  return (
    <li>
      <strong>{node['Node Type']}</strong> {on.filter(Boolean).join(' ')}{' '}
      <span className={classes.quiet}>
        {`${formatNumber(rows)} rows · cost ${formatNumber(Math.round(node['Total Cost'] ?? 0))}`}
      </span>
      {isWarned && <span className={classes.warned}> reads the whole table</span>}
      {node.Plans && (
        <ul>
          {node.Plans.map((child, index) => (
            <PlanStep key={index} node={child} />
          ))}
        </ul>
      )}
    </li>
  )
}
