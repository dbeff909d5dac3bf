/** The sign-up settings of an application: who may sign up, the users' key, redirect URLs and mail templates. */
import { ApiError } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactElement, useState } from 'react'
import { consoleUrl } from '../../../address.ts'
import { Button } from '../../../components/button.tsx'
import { ErrorNote } from '../../../components/error-note.tsx'
import { Checkbox } from '../../../components/field.tsx'
import { Empty, Note, Skeleton } from '../../../components/note.tsx'
import { layout, Page } from '../../../components/page.tsx'
import { useToast } from '../../../components/toast.tsx'
import { queryKeys } from '../../../query-keys.ts'
import { useClient, useRefusal, useSession } from '../../../session/session.tsx'
import { AccessTabs, useMissingApplication } from '../access-tabs.tsx'
import { EntryList } from '../entry-list.tsx'
import { type ApplicationRecord, useApplication } from '../keys/default-key.ts'
import { MailTextFields } from './mail-text-fields.tsx'
import { type MailTexts, mailNames, templateOf, textsOf } from './mail-texts.ts'
import {
  allowsConsole,
  authOf,
  readAllowed,
  readRedirectUrl,
  rulesInWords,
  rulesOf,
  type SignUpRules,
} from './sign-up-rules.ts'
import { KeyChoice } from './user-fields.tsx'

export function SignUpRulesPage(): ReactElement {
  const { data, error, refetch, isLoading } = useApplication()
  const missing = useMissingApplication()
  const refusal = useRefusal()('applications', 'read')
  /** The record that the form was opened with, kept even if the record is fetched again during editing. */
  const [held, setHeld] = useState<ApplicationRecord | null>(null)
  const record = held ?? data
  const reload = async () => {
    await refetch()
    setHeld(null)
  }
  return (
    <Page title="Sign-up" facts={data && rulesInWords(rulesOf(data.application.metadata))} tabs={<AccessTabs />}>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {isLoading && <Skeleton height={240} />}
      {record && <RulesForm key={record.etag} record={record} onHold={setHeld} onReload={reload} />}
      {!data && !error && !isLoading && (
        <Empty title="The rules of an application are shown here">
          <p>{missing ?? refusal}</p>
        </Empty>
      )}
    </Page>
  )
}

interface Draft {
  rules: SignUpRules
  texts: MailTexts
}

interface RulesFormProps {
  record: ApplicationRecord
  /** Null ends the editing. */
  onHold(record: ApplicationRecord | null): void
  /** Resolves when the form shows the stored values again. */
  onReload(): Promise<void>
}

function RulesForm({ record, onHold, onReload }: RulesFormProps): ReactElement {
  const { application } = record
  const [start] = useState<Draft>(() => ({
    rules: rulesOf(application.metadata),
    texts: textsOf(application.metadata),
  }))
  const [draft, setDraft] = useState(start)
  const save = useSave(record, start, onReload)
  const refusal = useRulesRefusal(application.id)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate(draft)
  }
  const edit = (next: Draft) => {
    setDraft(next)
    onHold(isSame(next, start) ? null : record)
  }
  const change = (part: Partial<SignUpRules>) => edit({ ...draft, rules: { ...draft.rules, ...part } })
  const isChanged = !isSame(draft, start)
  return (
    <form className={layout.form} onSubmit={submit}>
      {refusal && <Note>{refusal}</Note>}
      <div className={layout.form} inert={save.isPending}>
        <RuleFields rules={draft.rules} onChange={change} />
        <MailTextFields
          texts={draft.texts}
          application={application.name}
          onChange={(texts) => edit({ ...draft, texts })}
        />
      </div>
      {save.error !== null && <ErrorNote error={save.error} />}
      {isConflict(save.error) && (
        <Note kind="warn">
          Somebody else changed the application meanwhile. <Button onClick={() => void onReload()}>Load theirs</Button>
        </Note>
      )}
      <div className={layout.row}>
        <Button
          type="submit"
          variant="primary"
          icon="save"
          disabled={!isChanged || save.isPending}
          disabledReason={refusal}
        >
          {save.isPending ? 'Saving …' : 'Save'}
        </Button>
        {isChanged && (
          <Button disabled={save.isPending} onClick={() => edit(start)}>
            Discard
          </Button>
        )}
      </div>
    </form>
  )
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

const isConflict = (error: unknown): boolean => error instanceof ApiError && error.status === 412

/** Only keys, not access tokens, may change the rules, because they name a key. */
function useRulesRefusal(id: string): string | undefined {
  const client = useClient()
  const { access } = useSession()
  const refusal = useRefusal()('applications', 'write', id)
  if (access.user && client.apiKey === null)
    return 'You are signed in by e-mail. The rules are seen and changed with an API key.'
  return refusal
}

/** Rules and templates are two members of the metadata; each is written only if it changed. */
function useSave({ application, etag }: ApplicationRecord, start: Draft, onReload: () => Promise<void>) {
  const client = useClient()
  const queryClient = useQueryClient()
  const { say } = useToast()
  return useMutation({
    mutationFn: async ({ rules, texts }: Draft) => {
      let ifMatch = etag
      const onResponse = ({ headers }: Response) => {
        ifMatch = headers.get('etag') ?? ifMatch
      }
      const { metadata } = client.applications
      if (!isSame(rules, start.rules))
        await metadata.setKey(application.id, 'auth', authOf(rules), { ifMatch, onResponse })
      for (const name of mailNames) {
        if (isSame(texts[name], start.texts[name])) continue
        const key = `mail.templates.${name}`
        await metadata.setKey(application.id, key, templateOf(name, texts[name]), { ifMatch, onResponse })
      }
    },
    onSuccess: async () => {
      // The form is remounted with the stored values, so the reload must finish before the user can type again.
      await queryClient.invalidateQueries({ queryKey: queryKeys.applications.all })
      await onReload()
      say({ title: 'The rules are saved' })
    },
  })
}

interface RuleFieldsProps {
  rules: SignUpRules
  onChange(part: Partial<SignUpRules>): void
}

function RuleFields({ rules, onChange }: RuleFieldsProps): ReactElement {
  const { isEnabled, allow, redirectUrls, keyId } = rules
  const consolePages = consoleUrl('*')
  return (
    <>
      <section className={layout.section}>
        <h2>Who may sign up</h2>
        <Checkbox
          role="switch"
          label="People may sign up by themselves"
          isChecked={isEnabled}
          onChange={(next) => onChange({ isEnabled: next })}
        />
        {isEnabled && (
          <EntryList
            label="Approved addresses"
            hint="Addresses, @domain for all there, or * for everybody."
            placeholder="@example.org"
            entries={allow}
            read={readAllowed}
            onChange={(next) => onChange({ allow: next })}
          />
        )}
        {isEnabled && allow.length === 0 && <Note kind="warn">No address is approved yet, so nobody can sign up.</Note>}
      </section>
      <section className={layout.section}>
        <h2>What users may do</h2>
        <KeyChoice
          label="As much as this key"
          none="No key: only users with a key of their own"
          keyId={keyId}
          onChange={(next) => onChange({ keyId: next })}
        />
      </section>
      <section className={layout.section}>
        <h2>Where mail may lead</h2>
        <EntryList
          label="Allowed addresses"
          hint="An exact address, or one that ends in /* for all below. None: this server and this machine only."
          placeholder="https://maps.example.org/*"
          entries={redirectUrls}
          read={readRedirectUrl}
          onChange={(next) => onChange({ redirectUrls: next })}
        />
        {!allowsConsole(redirectUrls, consoleUrl('reset-password')) && (
          <Note kind="warn">
            Links of this console’s own mails are refused.{' '}
            <Button onClick={() => onChange({ redirectUrls: [...redirectUrls, consolePages] })}>
              Allow this console
            </Button>
          </Note>
        )}
      </section>
    </>
  )
}
