/** Makes a key that only reads this dataset, for a snippet that runs as it is pasted. */
import type { Dataset } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { Button } from '../../../components/button.tsx'
import { ErrorNote } from '../../../components/error-note.tsx'
import { layout } from '../../../components/page.tsx'
import { queryKeys } from '../../../query-keys.ts'
import { useClient, useRefusal } from '../../../session/session.tsx'
import classes from '../query/query.module.css'
import { placeholderKey } from './snippet-input.ts'

export interface SnippetKeyProps {
  dataset: Dataset
  /** Null: none was made yet. */
  apiKey: string | null
  onMade(apiKey: string): void
}

export function SnippetKey({ dataset, apiKey, onMade }: SnippetKeyProps): ReactElement {
  const refusal = useRefusal()('apikeys', 'write')
  const make = useMakeKey(dataset, onMade)
  if (apiKey)
    return (
      <p className={classes.muted} role="status">
        The code has a new key, which reads this dataset and can do nothing else. It is listed in Access, where it can
        be deleted or limited to your websites.
      </p>
    )
  return (
    <div className={layout.section}>
      <p className={classes.muted}>
        Put a key for <code>{placeholderKey}</code> that may read and execute this dataset, and no more.
      </p>
      <div>
        <Button icon="access" disabled={make.isPending} disabledReason={refusal} onClick={() => make.mutate()}>
          {make.isPending ? 'Making …' : 'Make a read-only key'}
        </Button>
      </div>
      {make.error && <ErrorNote error={make.error} />}
    </div>
  )
}

function useMakeKey({ id, name }: Dataset, onMade: (apiKey: string) => void) {
  const client = useClient()
  const cache = useQueryClient()
  return useMutation({
    mutationFn: () =>
      client.apiKeys.create({
        type: 'app',
        description: `Reads “${name}”, made for a snippet`.slice(0, 255),
        permissions: { datasets: { read: [id], execute: [id] }, tiles: { read: [id] } },
      }),
    onSuccess(made) {
      onMade(made.id)
      void cache.invalidateQueries({ queryKey: queryKeys.apikeys.all })
    },
  })
}
