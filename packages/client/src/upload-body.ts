// The multipart bodies of uploads, with progress.

/** How much of a file has been sent, in bytes. `total` is null for a stream, whose length is unknown. */
export interface UploadProgress {
  readonly loaded: number
  readonly total: number | null
}

export type OnProgress = (progress: UploadProgress) => void

/** A file: a File or Blob (Node: fs.openAsBlob), bytes, or a stream, which can be sent only once. */
export type UploadFile = Blob | ArrayBuffer | Uint8Array | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

interface Form {
  readonly fields: Readonly<Record<string, unknown>>
  readonly file: Blob | AsyncIterable<Uint8Array>
  readonly fileName: string
}

/** Converts bytes to a Blob, which leaves two cases: a Blob, which can be sent again, and a stream, which cannot. */
export function asFile(file: UploadFile): Blob | AsyncIterable<Uint8Array> {
  if (file instanceof Blob) return file
  if (file instanceof ArrayBuffer || ArrayBuffer.isView(file)) return new Blob([file as Uint8Array<ArrayBuffer>])
  return file instanceof ReadableStream ? iterate(file) : file
}

/** Browsers other than Chromium cannot iterate over a stream yet. */
async function* iterate(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const reader = stream.getReader()
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value as Uint8Array
  } finally {
    await reader.cancel()
  }
}

export function formDataOf({ fields, file, fileName }: Form & { readonly file: Blob }): FormData {
  const form = new FormData()
  for (const [name, value] of presentFields(fields)) form.append(name, value)
  form.append('file', file, fileName)
  return form
}

const presentFields = (fields: Form['fields']): [string, string][] =>
  Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, textOf(value)]]))

/** Lists and objects are sent as JSON. */
const textOf = (value: unknown): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)

/** A multipart/form-data stream that counts the bytes read from it, because fetch reports no upload progress. */
export function countedForm(form: Form, onProgress: OnProgress) {
  const boundary = `graticule-${crypto.randomUUID()}`
  const head = presentFields(form.fields).map(([name, value]) => part(boundary, `name="${name}"`, value))
  const fileHead = part(boundary, `name="file"; filename="${quote(form.fileName)}"`, '', 'application/octet-stream')
  const encoder = new TextEncoder()
  const before = encoder.encode(head.join('') + fileHead.slice(0, -2))
  const behind = encoder.encode(`\r\n--${boundary}--\r\n`)
  const size = form.file instanceof Blob ? form.file.size : null
  const contents = () => (form.file instanceof Blob ? iterate(form.file.stream()) : form.file)
  return {
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      // Lets the server refuse a file that is too large before it is sent.
      ...(size !== null && { 'content-length': String(before.length + size + behind.length) }),
    },
    body: () => streamOf(framed(before, counted(contents(), size, onProgress), behind)),
  }
}

const part = (boundary: string, disposition: string, value: string, type?: string): string =>
  `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n${type ? `content-type: ${type}\r\n` : ''}\r\n${value}\r\n`

/** Escapes names as browsers do (WHATWG HTML, multipart/form-data). */
const quote = (name: string): string => name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

async function* framed(before: Uint8Array, contents: Bytes, behind: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield before
  yield* contents
  yield behind
}

async function* counted(contents: Bytes, total: number | null, onProgress: OnProgress) {
  let loaded = 0
  for await (const piece of contents) {
    yield piece
    loaded += piece.byteLength
    onProgress({ loaded, total })
  }
}

/** Without read-ahead (highWaterMark 0), so that bytes read are bytes being sent. */
function streamOf(pieces: AsyncGenerator<Uint8Array, void>): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await pieces.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await pieces.return()
      },
    },
    { highWaterMark: 0 },
  )
}
