/** The form of a database of files: a folder, a web address or an S3 bucket. */
import type { DriverDetails } from '../driver-details.ts'

const text = { kind: 'text', required: false, secret: false } as const
const lines = {
  name: 'metadata.files',
  label: 'Files',
  kind: 'lines',
  placeholder: 'roads.parquet',
  secret: false,
} as const
const copies = 'Ends with a slash. The server keeps copies of the files and asks for changes once a minute.'

export const filesForm: Pick<DriverDetails, 'ways' | 'fields'> = {
  ways: {
    label: 'Where the files are',
    choices: [
      { name: 'folder', label: 'Folder', when: { field: 'db', pattern: '^(?![A-Za-z0-9+.-]+://)' } },
      { name: 's3', label: 'S3 bucket', when: { field: 'db', pattern: '^[sS]3://' } },
      { name: 'web', label: 'Web address', when: { field: 'db', pattern: '://' } },
    ],
  },
  fields: [
    {
      ...{ ...text, name: 'db', label: 'Folder', placeholder: 'data', required: true, way: 'folder' },
      help: 'On the server, below the files of this application. Each file in it is a table, and is only read.',
    },
    {
      ...{
        ...text,
        name: 'db',
        label: 'Address',
        placeholder: 'https://data.example.org/open/',
        required: true,
        way: 'web',
      },
      help: copies,
    },
    {
      ...{ ...lines, required: true, way: 'web' },
      help: 'One name per line, because plain https has no listing. Each file is a table.',
    },
    {
      ...{
        ...text,
        name: 'db',
        label: 'Bucket and prefix',
        placeholder: 's3://bucket/roads/',
        required: true,
        way: 's3',
      },
      help: copies,
    },
    {
      ...{ ...text, name: 'host', label: 'Server', placeholder: 'https://minio.example.org:9000', way: 's3' },
      help: 'Empty for Amazon S3. Otherwise a server that speaks its protocol, such as MinIO, Ceph or R2.',
    },
    { ...text, name: 'metadata.region', label: 'Region', placeholder: 'us-east-1', way: 's3' },
    {
      ...{ ...text, name: 'user', label: 'Access key id', way: 's3' },
      help: 'Empty, like its secret, for a public bucket.',
    },
    {
      ...{ ...text, name: 'password', label: 'Secret access key', secret: true, way: 's3' },
      help: 'Sealed, and shown to nobody.',
    },
    {
      ...{ ...lines, required: false, way: 's3' },
      help: 'One name per line. Empty: all files directly behind the prefix. Each file is a table.',
    },
  ],
}
