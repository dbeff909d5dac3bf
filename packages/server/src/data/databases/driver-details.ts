/** What a driver says of itself: what its databases can do, and the fields of its form, from which the console draws it. */
import Type, { type Static } from 'typebox'

/** True while the value of another field matches. */
const condition = Type.Object({
  field: Type.String(),
  pattern: Type.String({ description: 'A regular expression' }),
})

const formField = Type.Object({
  name: Type.String({ description: 'The field of the record, `host`, or a key of its metadata, `metadata.region`' }),
  label: Type.String(),
  kind: Type.Enum(['text', 'url', 'password', 'integer', 'choice', 'lines', 'block'], {
    description:
      '`text` and `url` are trimmed, `password` is sent as it was typed, `choice` is one of `choices`, `lines` is a list with one item per ' +
      'line, `block` is text of several lines',
  }),
  required: Type.Boolean(),
  secret: Type.Boolean({ description: 'Write-only: it is never shown, and left empty it stays as it is stored' }),
  default: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
  help: Type.Optional(Type.String()),
  placeholder: Type.Optional(Type.String()),
  choices: Type.Optional(Type.Array(Type.Object({ value: Type.String(), label: Type.String() }))),
  way: Type.Optional(Type.String({ description: 'The way that it is part of; absent: of all' })),
  when: Type.Optional(condition),
})

const formWay = Type.Object({
  name: Type.String(),
  label: Type.String(),
  when: Type.Optional(condition),
})

const formWays = Type.Object(
  { label: Type.String(), choices: Type.Array(formWay) },
  {
    description:
      'The ways in which its databases can be given, one of which is chosen; absent: there is one. A stored record is of the first ' +
      'one whose `when` is true of it',
  },
)

const described = {
  title: Type.String({ description: 'What people call this kind of database' }),
  isPlatform: Type.Boolean({
    description: 'Its tables are in the platform’s own database, in the schema of the application',
  }),
  isWritable: Type.Boolean({ description: 'Rows can be written and files uploaded; false: it is only read' }),
  canFollow: Type.Boolean({
    description:
      'Changes of its tables can be followed; outside of the platform’s database those that are written through Graticule',
  }),
  summary: Type.String({ description: 'One line for a database: names of fields in braces stand for their values' }),
  contents: Type.String({ description: 'What is listed as its tables' }),
  engines: Type.Array(Type.String(), {
    description: 'The products whose versions a test reports: that of `serverVersion`, then that of `postgisVersion`',
  }),
  ways: Type.Optional(formWays),
  fields: Type.Array(formField),
}

/** An item of `GET /databases/drivers?details=true`. */
export const driverSchema = Type.Object({ name: Type.String(), ...described }, { title: 'DatabaseDriver' })

export type FormField = Static<typeof formField>

const details = Type.Object(described)
export type DriverDetails = Static<typeof details>
