/** The folders of the list: one for each tag, with the number of its datasets. */
import type { ReactElement } from 'react'
import { Button } from '../../../components/button.tsx'
import { formatNumber } from '../../../format.ts'
import { useTags } from '../use-datasets.ts'
import classes from './picked.module.css'

export interface FolderListProps {
  onOpen(tag: string): void
}

export function FolderList({ onOpen }: FolderListProps): ReactElement | null {
  const tags = useTags()
  if (tags.length === 0) return null
  return (
    <nav className={classes.folders} aria-label="Folders">
      {tags.map(({ name, count }) => (
        <Button key={name} icon="folder" onClick={() => onOpen(name)}>
          {name} ({formatNumber(count)})
        </Button>
      ))}
    </nav>
  )
}
