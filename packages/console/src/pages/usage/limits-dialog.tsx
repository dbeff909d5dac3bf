/** Changes the limits of an application that differ from those of the installation; for master keys. */
import type { Application, ServerConfig, Usage } from '@graticule/client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { Dialog } from '../../components/dialog.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { useFaults } from '../../components/faults/use-faults.ts'
import { TextField } from '../../components/field.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { Skeleton } from '../../components/note.tsx'
import { useToast } from '../../components/toast.tsx'
import { queryKeys } from '../../query-keys.ts'
import { useSession } from '../../session/session.tsx'
import {
  draftOf,
  faultOfLimit,
  type LimitDraft,
  type LimitName,
  limitNames,
  limitText,
  limitWords,
  patchOf,
} from './limit-words.ts'

interface LimitsDialogProps {
  usage: Pick<Usage, 'applicationId' | 'name'>
  onClose(): void
}

export function LimitsDialog({ usage, onClose }: LimitsDialogProps): ReactElement {
  const { unscoped } = useSession()
  const { applicationId } = usage
  // Always read anew: a form that starts from an old record would show limits that no longer hold.
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.applications.one(applicationId, 'limits'),
    queryFn: async ({ signal }) => {
      const [application, { limits }] = await Promise.all([
        unscoped.applications.get(applicationId, { signal }),
        unscoped.server.config({ signal }),
      ])
      return { own: application.limits, usual: limits }
    },
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  })
  if (data) return <LimitsForm {...data} usage={usage} onClose={onClose} />
  return (
    <Dialog isOpen onClose={onClose} title={`Limits of ${usage.name}`}>
      {error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <Skeleton height={240} />}
    </Dialog>
  )
}

interface LimitsFormProps extends LimitsDialogProps {
  own: Application['limits']
  usual: ServerConfig['limits']
}

function LimitsForm({ usage, own, usual, onClose }: LimitsFormProps): ReactElement {
  const start = draftOf(own)
  const [draft, setDraft] = useState(start)
  const [isTried, setTried] = useState(false)
  const save = useSave(usage, onClose)
  const isFaulty = limitNames.some((name) => faultOfLimit(name, draft[name]) !== null)
  const faults = useFaults(save.error).in('limits')
  return (
    <FormDialog
      title={`Limits of ${usage.name}`}
      onClose={onClose}
      labels={['Save', 'Saving …']}
      isPending={save.isPending}
      error={save.error}
      isCheckedHere
      onSubmit={() => {
        setTried(true)
        if (!isFaulty) save.mutate(patchOf(start, draft))
      }}
    >
      <p>An empty field means the limit of the installation. A change holds within a second.</p>
      {limitNames.map((name) => (
        <LimitField
          key={name}
          name={name}
          draft={draft}
          usual={usual[name]}
          error={(isTried && faultOfLimit(name, draft[name])) || faults[name]}
          onChange={(text) => setDraft({ ...draft, [name]: text })}
        />
      ))}
    </FormDialog>
  )
}

interface LimitFieldProps {
  name: LimitName
  draft: LimitDraft
  usual: number | null
  error: string | undefined
  onChange(text: string): void
}

function LimitField({ name, draft, usual, error, onChange }: LimitFieldProps): ReactElement {
  const { label, hint, unit } = limitWords[name]
  return (
    <TextField
      label={unit === 1 ? label : `${label}, GB`}
      hint={`${hint} Of the installation: ${limitText(name, usual)}.`}
      inputMode={unit === 1 ? 'numeric' : 'decimal'}
      placeholder={limitText(name, usual)}
      value={draft[name]}
      error={error}
      onChange={onChange}
    />
  )
}

function useSave({ applicationId, name }: LimitsDialogProps['usage'], onSaved: () => void) {
  const { unscoped } = useSession()
  const queryClient = useQueryClient()
  const { say } = useToast()
  return useMutation({
    // A merge patch: null takes a limit away, which the type of whole records does not know.
    mutationFn: (limits: ReturnType<typeof patchOf>) =>
      unscoped.applications.patch(applicationId, { limits: limits as Application['limits'] }),
    onSuccess: async () => {
      await Promise.all(
        ['usage', 'applications'].map((queryKey) => queryClient.invalidateQueries({ queryKey: [queryKey] })),
      )
      say({ title: `The limits of “${name}” are saved` })
      onSaved()
    },
  })
}
