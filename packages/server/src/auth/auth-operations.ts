import type { TSchema } from 'typebox'
import type { Operation } from '../http/operation.ts'
import { jwksOperation } from './jwks-operation.ts'
import type { AuthParts } from './parts.ts'
import { passwordOperations } from './password-operations.ts'
import { sessionOperations } from './session-operations.ts'
import { signupOperations } from './signup-operations.ts'

/** All that is about signing in. `userSchema` is a user as it is answered. */
export const authOperations = (parts: AuthParts, userSchema: TSchema): Operation[] => [
  ...sessionOperations(parts),
  ...passwordOperations(parts),
  ...signupOperations(parts, userSchema),
  jwksOperation(parts),
]
