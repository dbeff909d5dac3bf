// Rules of a dataset: which of its rows and attributes a caller may see and write.
import Type, { type Static } from 'typebox'
import { freeObject, freeRecord, nameList } from '../../../api/http/input/bounded-schemas.ts'

export const ruleLevels = ['read', 'append', 'change', 'delete'] as const
export type RuleLevel = (typeof ruleLevels)[number]

const maxRules = 100
const maxRoles = 100

export const ruleSchema = Type.Object(
  {
    roles: Type.Optional(
      nameList('For users with any of these roles; for every user without it', { maxItems: maxRoles, maxLength: 255 }),
    ),
    users: Type.Optional(
      Type.Enum(['signed-in', 'anyone'], {
        description: '`anyone`: also for keys that stand for no user, where `rulesFor` is `all`',
      }),
    ),
    levels: Type.Array(Type.Enum([...ruleLevels]), { minItems: 1, maxItems: ruleLevels.length }),
    where: Type.Optional(
      freeObject('bodyBytes', {
        description:
          'The rows, as a filter. Values may be `$user.id`, `$user.email`, `$user.roles`, `$user.metadata.…`, `$claims.…` and ' +
          '`$key.metadata.…`; a comparison with one that the caller does not have is false. `$$` begins a text with a dollar',
      }),
    ),
    attributes: Type.Optional(nameList('The attributes that are seen, or may be written; all without it')),
    set: Type.Optional(
      freeRecord('bodyBytes', {
        description: 'Values that the server writes, whatever is sent. They may be of the caller, as in `where`',
      }),
    ),
  },
  { additionalProperties: false, title: 'DatasetRule' },
)

export type Rule = Static<typeof ruleSchema>

export const rulesSchema = Type.Union([Type.Array(ruleSchema, { maxItems: maxRules }), Type.Null()], {
  description:
    'Narrow what keys grant on the rows: a caller for whom no rule fits sees none, several rules add up. null: no rules. ' +
    'Hidden from callers who are bound by them',
})

/** Whom rules bind. */
export const boundCallers = ['users', 'all'] as const

export type Ruled = {
  readonly rules?: readonly Rule[] | null
  readonly rulesFor?: (typeof boundCallers)[number]
}
