/** Uploads in the application shell: drop target, dialog, tray, and the key `u`. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, type ReactElement, Suspense, useEffect, useSyncExternalStore } from 'react'
import { useToast } from '../components/toast.tsx'
import { queryKeys } from '../query-keys.ts'
import { useClient, useMay } from '../session/session.tsx'
import { useLeaveWarning } from '../shell/leave-warning.ts'
import { useLetter } from '../shell/shortcuts.ts'
import { DropFrame } from './drop-frame.tsx'
import { openUploadDialog, useUploadDialog } from './upload-dialog-store.ts'
import { isUnsent } from './upload-job.ts'
import { adoptUploads, getUploads, subscribeUploadEnd, subscribeUploads } from './upload-store.ts'
import { UploadTray } from './upload-tray.tsx'
import { useUploadRefusal } from './use-upload-refusal.ts'

const UploadDialog = lazy(() => import('./upload-dialog.tsx').then(({ UploadDialog }) => ({ default: UploadDialog })))

export function Uploads(): ReactElement {
  const jobs = useSyncExternalStore(subscribeUploads, getUploads)
  const dialog = useUploadDialog()
  const refusal = useUploadRefusal()
  const { fail } = useToast()
  useLetter('u', () => (refusal ? fail('Files cannot be uploaded', new Error(refusal)) : openUploadDialog()))
  useUploadsOfServer()
  useFreshLists()
  // Files that the server has are processed anyway.
  useLeaveWarning(jobs.some(isUnsent))
  return (
    <>
      <DropFrame />
      {jobs.length > 0 && <UploadTray jobs={jobs} />}
      <Suspense>{dialog && <UploadDialog state={dialog} />}</Suspense>
    </>
  )
}

const adoptedMs = 10_000

/** Adopts running uploads that were sent earlier or by others. */
function useUploadsOfServer(): void {
  const client = useClient()
  const mayRead = useMay()('uploads', 'read')
  const params = { filter: { status: { $in: ['pending', 'processing'] } }, sort: ['createdAt'], limit: 100 }
  const { data } = useQuery({
    queryKey: queryKeys.uploads.listWith(params),
    queryFn: ({ signal }) => client.uploads.list({ ...params, signal }),
    enabled: mayRead,
    refetchInterval: adoptedMs,
  })
  useEffect(() => {
    if (data) adoptUploads(data)
  }, [data])
}

function useFreshLists(): void {
  const queryClient = useQueryClient()
  useEffect(
    () =>
      subscribeUploadEnd(() => {
        for (const resource of ['datasets', 'tilesources', 'uploads']) {
          void queryClient.invalidateQueries({ queryKey: [resource] })
        }
      }),
    [queryClient],
  )
}
