/** The maps that lose a column once it has another name. */
import type { Dataset } from '@graticule/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { Note } from '../../../../components/note.tsx'
import { layout } from '../../../../components/page.tsx'
import { queryKeys } from '../../../../query-keys.ts'
import type { DatasetAttribute } from '../../dataset.ts'
import { stylesNaming } from '../../users/styles-naming.ts'
import { useUsersOf } from '../../users/use-users.ts'

interface RenameNoteProps {
  dataset: Dataset
  attribute: DatasetAttribute
}

export function RenameNote({ dataset, attribute }: RenameNoteProps): ReactElement | null {
  const users = useUsersOf(dataset)
  const { data } = useQuery({ queryKey: queryKeys.datasets.one(dataset.id, 'users'), queryFn: users, staleTime: 0 })
  const styles = stylesNaming(data?.styles ?? [], attribute.name)
  if (styles.length === 0) return null
  return (
    <Note kind="warn">
      <div className={layout.section}>
        <p>
          {styles.length === 1 ? 'This map colours' : 'These maps colour'}, filters or tells features by “
          {attribute.name}”, and lacks it until you choose the column by its new name there:
        </p>
        <ul>
          {styles.map(({ id, name }) => (
            <li key={id}>
              <Link to="/maps/$styleId/$tab" params={{ styleId: id, tab: 'look' }}>
                {name}
              </Link>
            </li>
          ))}
        </ul>
      </div>
    </Note>
  )
}
