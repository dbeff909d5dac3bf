/** The names that users have and nobody declared. */
import type { ReactElement } from 'react'
import { Button } from '../../../components/button.tsx'
import { useRefusal } from '../../../session/session.tsx'
import classes from '../access.module.css'
import { type RoleUse, usersWith } from './role-use.ts'

interface UndeclaredRolesProps {
  names: readonly string[]
  use: RoleUse
  onDeclare(name: string): void
}

export function UndeclaredRoles({ names, use, onDeclare }: UndeclaredRolesProps): ReactElement | null {
  const refusal = useRefusal()('users', 'write')
  if (names.length === 0) return null
  return (
    <section className={classes.undeclared} aria-labelledby="undeclared-roles">
      <h2 id="undeclared-roles">Names that are not declared</h2>
      <p className={classes.hint}>
        Users have them, and rules may ask for them. They grant nothing until somebody declares them.
      </p>
      <ul className={classes.names}>
        {names.map((name) => (
          <li key={name}>
            <strong>{name}</strong>
            <span className={classes.count}>{usersWith(name, use)}</span>
            <Button aria-label={`Declare ${name}`} disabledReason={refusal} onClick={() => onDeclare(name)}>
              Declare …
            </Button>
          </li>
        ))}
      </ul>
    </section>
  )
}
