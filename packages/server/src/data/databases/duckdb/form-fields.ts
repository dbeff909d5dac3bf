/** The form of a database of files: a folder, a web address or an S3 bucket. */
import type { DriverDetails, FormField } from '../driver-details.ts'

const text = { kind: 'text', required: false, secret: false } as const
const address = { name: 'db', kind: 'url', required: true, secret: false } as const
const files = { ...text, name: 'metadata.files', label: 'Files', kind: 'lines', placeholder: 'roads.parquet' } as const
const copies = 'Ends with a slash. The server keeps copies of the files and asks for changes once a minute.'

const folder: readonly Omit<FormField, 'way'>[] = [
  {
    ...text,
    name: 'db',
    label: 'Folder',
    required: true,
    placeholder: 'data',
    help: 'On the server, below the files of this application. Each file in it is a table, and is only read.',
  },
]

const web: readonly Omit<FormField, 'way'>[] = [
  { ...address, label: 'Address', placeholder: 'https://data.example.org/open/', help: copies },
  {
    ...files,
    required: true,
    help: 'One name per line, because plain https has no listing. Each file is a table.',
  },
]

const s3: readonly Omit<FormField, 'way'>[] = [
  { ...address, label: 'Bucket and prefix', placeholder: 's3://bucket/roads/', help: copies },
  {
    ...text,
    name: 'host',
    label: 'Server',
    kind: 'url',
    placeholder: 'https://minio.example.org:9000',
    help: 'Empty for Amazon S3. Otherwise a server that speaks its protocol, such as MinIO, Ceph or R2.',
  },
  { ...text, name: 'user', label: 'Access key id', help: 'Empty, like its secret, for a public bucket.' },
  {
    ...text,
    name: 'password',
    label: 'Secret access key',
    secret: true,
    help: 'Sealed, and shown to nobody.',
  },
  { ...text, name: 'metadata.region', label: 'Region', placeholder: 'us-east-1' },
  { ...files, help: 'One name per line. Empty: all files directly behind the prefix. Each file is a table.' },
]

const inWay = (way: string, fields: readonly Omit<FormField, 'way'>[]): FormField[] =>
  fields.map((field) => ({ ...field, way }))

export const filesForm: Pick<DriverDetails, 'ways' | 'fields'> = {
  ways: {
    label: 'Where the files are',
    choices: [
      { name: 'folder', label: 'Folder', when: { field: 'db', pattern: '^(?![A-Za-z0-9+.-]+://)' } },
      { name: 'web', label: 'Web address', when: { field: 'db', pattern: '^(?![sS]3:)[A-Za-z0-9+.-]+://' } },
      { name: 's3', label: 'S3 bucket', when: { field: 'db', pattern: '^[sS]3://' } },
    ],
  },
  fields: [...inWay('folder', folder), ...inWay('web', web), ...inWay('s3', s3)],
}
