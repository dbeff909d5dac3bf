/** As whom rules are tried. */
import type { DatasetsTryRulesBody } from '@graticule/client'
import type { Rule } from '../rule.ts'

export type Viewer =
  | { kind: 'user'; id: string; email: string }
  | { kind: 'role'; role: string }
  | { kind: 'signed-in' }
  | { kind: 'anyone' }

export function bodyOf(viewer: Viewer): Pick<DatasetsTryRulesBody, 'userId' | 'user'> {
  switch (viewer.kind) {
    case 'user':
      return { userId: viewer.id }
    case 'role':
      return { user: { roles: [viewer.role] } }
    case 'signed-in':
      return { user: {} }
    case 'anyone':
      return {}
  }
}

/** The subject of a sentence. */
export function viewerWords(viewer: Viewer): string {
  switch (viewer.kind) {
    case 'user':
      return viewer.email
    case 'role':
      return `Somebody with the role ${viewer.role}`
    case 'signed-in':
      return 'Somebody signed in without roles'
    case 'anyone':
      return 'A key without a user'
  }
}

export const rolesIn = (rules: readonly Rule[]): string[] =>
  [...new Set(rules.flatMap(({ roles = [] }) => roles))].toSorted()
