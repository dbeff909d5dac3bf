/** Dialogs that invite a user, edit one, and send a password link. */
import type { User } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { Button } from '../../../components/button.tsx'
import { CodeBlock } from '../../../components/copyable.tsx'
import { Dialog } from '../../../components/dialog.tsx'
import { ErrorNote } from '../../../components/error-note.tsx'
import { FormDialog } from '../../../components/form-dialog.tsx'
import { Note } from '../../../components/note.tsx'
import { layout } from '../../../components/page.tsx'
import { useToast } from '../../../components/toast.tsx'
import { queryKeys } from '../../../query-keys.ts'
import { resetPageUrl } from '../../../session/account-links.ts'
import { useClient } from '../../../session/session.tsx'
import { defaultKeyOf } from '../keys/default-key.ts'
import { emptyUser, type UserDraft, UserFields } from './user-fields.tsx'
import { nameOf, resetLink } from './users.ts'

interface InviteUserProps {
  onClose(): void
  onInvited(user: User): void
}

/** Creates the user without a password; the link in the mail confirms the address and asks for one. */
export function InviteUser({ onClose, onInvited }: InviteUserProps): ReactElement {
  const client = useClient()
  const queryClient = useQueryClient()
  const [draft, setDraft] = useState(emptyUser)
  const invite = useMutation({
    mutationFn: () => client.auth.users.create({ ...valuesOf(draft), ...authOf(draft.keyId), emailVerified: false }),
    onSuccess: (user) => {
      void queryClient.invalidateQueries({ queryKey: queryKeys.users.all })
      onInvited(user)
    },
  })
  return (
    <FormDialog
      title="Invite a user"
      kind="sheet"
      onClose={onClose}
      labels={['Invite', 'Working …']}
      isPending={invite.isPending}
      error={invite.error}
      onSubmit={() => invite.mutate()}
    >
      <UserFields draft={draft} error={invite.error} onChange={(part) => setDraft({ ...draft, ...part })} />
    </FormDialog>
  )
}

interface EditUserProps {
  user: User
  onClose(): void
}

export function EditUser({ user, onClose }: EditUserProps): ReactElement {
  const client = useClient()
  const queryClient = useQueryClient()
  const { say } = useToast()
  const [draft, setDraft] = useState(() => draftOf(user))
  const save = useMutation({
    mutationFn: () => {
      const isOtherKey = draft.keyId !== defaultKeyOf(user.metadata)
      return client.auth.users.patch(user.id, { ...valuesOf(draft), ...(isOtherKey && authOf(draft.keyId)) })
    },
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: queryKeys.users.all })
      say({ title: 'Saved' })
      onClose()
    },
  })
  return (
    <FormDialog
      title={nameOf(user) || user.email}
      kind="sheet"
      onClose={onClose}
      labels={['Save', 'Working …']}
      isPending={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate()}
    >
      <UserFields draft={draft} error={save.error} onChange={(part) => setDraft({ ...draft, ...part })} />
    </FormDialog>
  )
}

const draftOf = ({ email, firstName, lastName, roles, metadata }: User): UserDraft => ({
  email,
  firstName,
  lastName,
  roles,
  keyId: defaultKeyOf(metadata),
})

const valuesOf = ({ keyId: _, roles, ...texts }: UserDraft) => ({
  ...texts,
  email: texts.email.trim(),
  firstName: texts.firstName.trim(),
  lastName: texts.lastName.trim(),
  roles: [...roles],
})

const authOf = (defaultApiKey: string | null) => ({ metadata: { auth: { defaultApiKey } } })

interface ResetLinkDialogProps {
  user: User
  onClose(): void
}

/** Sends the mail, and shows the link if the user may see it. */
export function ResetLinkDialog({ user, onClose }: ResetLinkDialogProps): ReactElement {
  const client = useClient()
  const queryClient = useQueryClient()
  const { mutate, data, error, isIdle } = useMutation({
    mutationFn: async () => {
      const { email, applicationId } = user
      await client.auth.requestPasswordReset({ email, applicationId, redirectUrl: resetPageUrl(applicationId) })
      return client.auth.users.get(user.id)
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: queryKeys.users.all }),
  })
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="Link to choose a password"
      actions={
        <>
          <Button onClick={onClose}>{data ? 'Done' : 'Cancel'}</Button>
          {!data && (
            <Button variant="primary" icon="mail" disabled={!isIdle && !error} onClick={() => mutate()}>
              Send the mail
            </Button>
          )}
        </>
      }
    >
      <div className={layout.section}>
        {data ? (
          <SentLink user={data} />
        ) : (
          <p>
            A mail to {user.email} with a link to choose a password. It works once, for an hour, and confirms the
            address. The present password stays until then.
          </p>
        )}
        {error && <ErrorNote error={error} />}
        {error && (
          <p>Where mail may lead is said in the tab “Sign-up”: the address of this console must be allowed there.</p>
        )}
      </div>
    </Dialog>
  )
}

interface SentLinkProps {
  user: User
}

function SentLink({ user }: SentLinkProps): ReactElement {
  return (
    <>
      <Note kind="ok">The mail to {user.email} is on its way. Without a mail server it is in the outbox.</Note>
      {user.passwordResetToken !== '' && (
        <>
          <p>You can also hand over the link yourself. Whoever has it can choose the password.</p>
          <CodeBlock text={resetLink(user)} label="the link" />
        </>
      )}
    </>
  )
}
