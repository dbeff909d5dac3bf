/** The buttons that add data: upload a file, or a menu of other ways. */
import { useNavigate } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { Button, IconButton } from '../../components/button.tsx'
import { Menu } from '../../components/popup/menu.tsx'
import { useRefusal } from '../../session/session.tsx'
import { openUploadDialog } from '../../uploads/upload-dialog-store.ts'
import { useUploadRefusal } from '../../uploads/use-upload-refusal.ts'
import type { Addable } from './data-search.ts'

interface AddDataProps {
  onAdd(way: Addable): void
}

export function AddData({ onAdd }: AddDataProps): ReactElement {
  const navigate = useNavigate()
  const uploadRefusal = useUploadRefusal()
  const refusal = useRefusal()('datasets', 'write')
  const item = (type: Addable, label: string, icon: 'plus' | 'table' | 'code' | 'globe' | 'cpu') => ({
    label,
    icon,
    disabledReason: refusal,
    onSelect: () => onAdd(type),
  })
  return (
    <>
      <Button variant="primary" icon="plus" disabledReason={uploadRefusal} onClick={() => openUploadDialog()}>
        Add data
      </Button>
      <Menu
        trigger={<IconButton variant="plain" icon="chevronDown" label="More ways to add data" />}
        items={[
          {
            label: 'Upload files …',
            icon: 'upload',
            disabledReason: uploadRefusal,
            onSelect: () => openUploadDialog(),
          },
          item('new-table', 'New table …', 'plus'),
          '-',
          item('table', 'A table of a database …', 'table'),
          item('sql', 'An SQL query …', 'code'),
          item('rest', 'A web service …', 'globe'),
          item('lambda', 'A Lambda function …', 'cpu'),
          '-',
          {
            label: 'Connect a database',
            icon: 'database',
            onSelect: () => void navigate({ to: '/databases/{-$databaseId}' }),
          },
        ]}
      />
    </>
  )
}
