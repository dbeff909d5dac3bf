import type { Client } from '@graticule/client'
import { useState } from 'react'

/** Sends a file, shows how far it is, and tells which dataset has become of it. */
export function FileUpload({ client, onUploaded }: { client: Client; onUploaded: (datasetId: string) => void }) {
  const [status, setStatus] = useState('')

  async function upload(file: File) {
    try {
      const sent = await client.uploads.upload(
        file,
        {},
        { onProgress: ({ loaded, total }) => setStatus(`Sending: ${Math.round((100 * loaded) / (total || 1))} %`) },
      )
      const done = await client.uploads.wait(sent.id, { onProgress: ({ stage }) => setStatus(stage ?? 'Waiting') })
      setStatus(`${done.featureCount} features`)
      if (done.datasetId) onUploaded(done.datasetId)
    } catch (error) {
      setStatus((error as Error).message)
    }
  }

  return (
    <label>
      Upload a file{' '}
      <input
        type="file"
        onChange={({ target }) => {
          const [file] = target.files ?? []
          if (file) void upload(file)
        }}
      />{' '}
      <output>{status}</output>
    </label>
  )
}
