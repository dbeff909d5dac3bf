/** Makes the whole window a drop target, with an overlay while files are dragged over it. */
import { type ReactElement, useEffect, useEffectEvent, useState } from 'react'
import { useToast } from '../components/toast.tsx'
import { useSession } from '../session/session.tsx'
import { bundleShapefiles } from './bundle-shapefiles.ts'
import { folderRefusal, readDropped } from './dropped-files.ts'
import { addToUploadDialog } from './upload-dialog-store.ts'
import { addRefused, addUploads } from './upload-store.ts'
import classes from './uploads.module.css'
import { useUploadRefusal } from './use-upload-refusal.ts'

export function DropFrame(): ReactElement | null {
  const { access } = useSession()
  const refusal = useUploadRefusal()
  const { fail } = useToast()
  const isOver = useFileDrop((transfer) => {
    const { files, folders } = readDropped(transfer)
    if (refusal) {
      fail('Nothing was uploaded', new Error(refusal))
      return
    }
    for (const name of folders) addRefused(name, folderRefusal(name))
    bundleShapefiles(files)
      .then((bundled) => addToUploadDialog(bundled) || addUploads(bundled))
      .catch((error) => fail('The files could not be read', error))
  })
  if (!isOver) return null
  return (
    <div className={classes.frame} role="status">
      <p>{refusal ?? `Drop to upload to ${access.application?.name}`}</p>
    </div>
  )
}

/** Whether files are dragged over the window. Counts enter and leave events, because a child is entered before its parent is left. */
function useFileDrop(onDrop: (transfer: DataTransfer) => void): boolean {
  const [depth, setDepth] = useState(0)
  const drop = useEffectEvent(onDrop)
  useEffect(() => {
    const listeners: Record<string, (event: DragEvent) => void> = {
      dragenter: () => setDepth((now) => now + 1),
      dragleave: () => setDepth((now) => Math.max(0, now - 1)),
      dragover: (event) => event.preventDefault(),
      drop(event) {
        event.preventDefault()
        setDepth(0)
        if (event.dataTransfer) drop(event.dataTransfer)
      },
    }
    const listen = (event: Event) => {
      const isOfFiles = (event as DragEvent).dataTransfer?.types.includes('Files')
      if (isOfFiles) listeners[event.type]?.(event as DragEvent)
    }
    for (const type of Object.keys(listeners)) addEventListener(type, listen)
    return () => {
      for (const type of Object.keys(listeners)) removeEventListener(type, listen)
    }
  }, [])
  return depth > 0
}
