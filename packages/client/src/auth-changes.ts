// Who is told when the client's user changes: the option `onTokens`, and the listeners of `auth.onChange`.
import type { AuthEvent, HeldTokens, TellChange } from './session.ts'

export interface AuthChange {
  readonly event: AuthEvent
  readonly tokens: HeldTokens
}

export interface AuthChanges {
  readonly tell: TellChange
  /** Calls the listener after each change. Returns the function that ends that. */
  onChange(listener: (change: AuthChange) => void): () => void
}

export function createAuthChanges(onTokens: (tokens: HeldTokens) => void): AuthChanges {
  const listeners = new Set<(change: AuthChange) => void>()
  return {
    tell(event, tokens) {
      onTokens(tokens)
      for (const listener of [...listeners]) listener({ event, tokens })
    },
    onChange(listener) {
      // A function of its own for each call: the same listener may be added twice, and removed once.
      const added = (change: AuthChange): void => listener(change)
      listeners.add(added)
      return () => void listeners.delete(added)
    },
  }
}
