/** Whom a rule is for: users with roles, whoever is signed in, or anyone. */
import { useQuery } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { Checkbox, Segmented, TextField } from '../../../../components/field.tsx'
import { Skeleton } from '../../../../components/note.tsx'
import { queryKeys } from '../../../../query-keys.ts'
import { useClient, useMay } from '../../../../session/session.tsx'
import { useDataset } from '../../dataset.ts'
import classes from '../rules.module.css'
import type { RulePartProps } from './form-props.ts'
import type { Who } from './rule-draft.ts'

const options: readonly { value: Who; label: string }[] = [
  { value: 'roles', label: 'With a role' },
  { value: 'signed-in', label: 'Signed in' },
  { value: 'anyone', label: 'Anyone' },
]

const hints: Readonly<Record<Who, string>> = {
  roles: 'Users with any of these roles.',
  'signed-in': 'Every user of the application, whatever their roles.',
  anyone: 'Every user, and keys without a user where the rules bind all callers.',
}

export function WhoFields({ draft, change }: RulePartProps): ReactElement {
  const { who } = draft
  return (
    <fieldset className={classes.group}>
      <legend>Who</legend>
      <Segmented label="Who" value={who} options={options} onChange={(next) => change({ who: next })} />
      <p className={classes.muted}>{hints[who]}</p>
      {who === 'roles' && <RoleFields draft={draft} change={change} />}
    </fieldset>
  )
}

const mostRoles = 500

/** Names that are separated by commas, each once. */
const readRoles = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  ),
]

/** None where the key may not read them. */
function useDeclaredRoles() {
  const client = useClient()
  const { applicationId } = useDataset()
  const mayRead = useMay()('users', 'read')
  const params = { filter: { applicationId }, sort: ['name'], limit: mostRoles }
  const { data, isLoading } = useQuery({
    queryKey: queryKeys.roles.listWith(params),
    queryFn: ({ signal }) => client.auth.roles.list({ ...params, signal }),
    enabled: mayRead,
  })
  return { roles: data ?? [], isLoading }
}

function RoleFields(props: RulePartProps): ReactElement {
  const { roles, isLoading } = useDeclaredRoles()
  return isLoading ? <Skeleton height={56} /> : <RoleChoice {...props} declared={roles} />
}

interface RoleChoiceProps extends RulePartProps {
  declared: readonly { name: string; description: string }[]
}

/** A checkbox for each declared role, and a field for others. */
function RoleChoice({ draft: { roles }, change, declared }: RoleChoiceProps): ReactElement {
  const isDeclared = (role: string) => declared.some(({ name }) => name === role)
  const [others, setOthers] = useState(() => roles.filter((role) => !isDeclared(role)).join(', '))
  const ticked = roles.filter(isDeclared)
  const set = (chosen: readonly string[], free: string) =>
    change({ roles: [...new Set([...chosen, ...readRoles(free)])] })
  return (
    <>
      <div className={classes.choices}>
        {declared.map(({ name, description }) => (
          <Checkbox
            key={name}
            label={description ? `${name} · ${description}` : name}
            isChecked={roles.includes(name)}
            onChange={(isChosen) => {
              const rest = ticked.filter((role) => role !== name)
              set(isChosen ? [...rest, name] : rest, others)
            }}
          />
        ))}
      </div>
      <TextField
        label={declared.length > 0 ? 'Other roles' : 'Roles'}
        hint="As they stand in the roles of users, separated by commas."
        value={others}
        autoComplete="off"
        spellCheck={false}
        onChange={(text) => {
          setOthers(text)
          set(ticked, text)
        }}
      />
    </>
  )
}
