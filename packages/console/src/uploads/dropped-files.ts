/** Separates dropped files from folders, which a browser cannot send as one file. */
export interface DroppedFiles {
  files: File[]
  folders: string[]
}

export function readDropped({ items, files }: DataTransfer): DroppedFiles {
  const dropped: DroppedFiles = { files: [], folders: [] }
  for (const item of items) {
    if (item.kind !== 'file') continue
    const entry = item.webkitGetAsEntry?.()
    const file = item.getAsFile()
    if (entry?.isDirectory) dropped.folders.push(entry.name)
    else if (file) dropped.files.push(file)
  }
  return items.length > 0 ? dropped : { files: [...files], folders: [] }
}

export const folderRefusal = (name: string): Error =>
  new Error(`“${name}” is a folder. Zip it (a Shapefile’s files, a FileGDB) and drop the .zip file.`)
