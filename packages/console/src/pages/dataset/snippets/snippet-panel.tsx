/** Code snippets of a query for other tools, with a choice of the tool. */
import type { Dataset, DatasetQuery } from '@graticule/client'
import { type ReactElement, useState } from 'react'
import { serverUrl } from '../../../address.ts'
import { CodeBlock } from '../../../components/copyable.tsx'
import { Segmented } from '../../../components/field.tsx'
import { layout } from '../../../components/page.tsx'
import { placeholderKey } from './snippet-input.ts'
import { SnippetKey } from './snippet-key.tsx'
import { type SnippetKind, snippetKinds } from './snippets.ts'

export interface SnippetPanelProps {
  dataset: Dataset
  query: DatasetQuery
  parameters: Readonly<Record<string, string>>
}

export function SnippetPanel({ dataset, query, parameters }: SnippetPanelProps): ReactElement {
  const [kind, setKind] = useState<SnippetKind>('curl')
  const { label, write } = snippetKinds.find(({ id }) => id === kind) ?? snippetKinds[0]
  const [apiKey, setApiKey] = useState<string | null>(null)
  const template = write({ server: serverUrl.replace(/\/$/, ''), dataset, query, parameters })
  const text = apiKey ? template.replaceAll(placeholderKey, apiKey) : template
  return (
    <div className={layout.section}>
      <div>
        <Segmented<SnippetKind>
          label="Tool"
          value={kind}
          options={snippetKinds.map((one) => ({ value: one.id, label: one.label }))}
          onChange={setKind}
        />
      </div>
      <CodeBlock text={text} label={`code for ${label}`} />
      <SnippetKey dataset={dataset} apiKey={apiKey} onMade={setApiKey} />
    </div>
  )
}
