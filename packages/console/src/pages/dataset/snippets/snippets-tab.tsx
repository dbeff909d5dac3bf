/** Code snippets for the last query of the query tab, or for the first rows. */
import { Link } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { layout } from '../../../components/page.tsx'
import { useDataset } from '../dataset.ts'
import { parametersOf } from '../query/parameters.ts'
import { useQuerySession } from '../query/query-session.ts'
import { SnippetPanel } from './snippet-panel.tsx'

const firstRows = { limit: 100 }

export function SnippetsTab(): ReactElement {
  const dataset = useDataset()
  const [{ run }] = useQuerySession(dataset.id)
  const { result } = run
  const presets = Object.fromEntries(
    parametersOf(dataset)
      .filter(({ isRequired }) => isRequired)
      .map(({ name }) => [name, `VALUE_OF_${name}`]),
  )
  return (
    <div className={`${layout.padded} ${layout.section}`}>
      <p>
        {result ? 'The query that you ran last, for other tools.' : 'The first rows, for other tools.'}{' '}
        <Link to="/data/$datasetId/query" params={{ datasetId: dataset.id }}>
          {result ? 'Change the query' : 'Write a query'}
        </Link>
      </p>
      <SnippetPanel dataset={dataset} query={result?.query ?? firstRows} parameters={result?.parameters ?? presets} />
    </div>
  )
}
