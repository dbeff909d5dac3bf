/** The configuration of an application, which its front ends read: a JSON editor that shows a diff before saving. */
import { type ReactElement, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { CodeEditor } from '../../components/code-editor/code-editor.tsx'
import { useConfirm } from '../../components/confirm.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Empty, Note, Skeleton } from '../../components/note.tsx'
import { layout, Page } from '../../components/page.tsx'
import { formatBytes, formatRelative } from '../../format.ts'
import { useRefusal, useSession } from '../../session/session.tsx'
import classes from './configuration.module.css'
import { type ConfigurationDraft, type StoredConfiguration, useConfiguration, useDraft } from './configuration-query.ts'
import { dottedKeys, readConfiguration } from './dotted-keys.ts'
import { KeyList } from './key-list.tsx'
import { SaveDialog } from './save-dialog.tsx'

const title = 'Configuration'

export function ConfigurationPage(): ReactElement {
  const { access } = useSession()
  if (access.application) return <ApplicationConfiguration applicationId={access.application.id} />
  return (
    <Page title={title}>
      <Empty title="Choose an application">
        <p>
          Each application has a configuration of its own. Choose one at the top of the rail (on a phone under More).
        </p>
      </Empty>
    </Page>
  )
}

interface ApplicationConfigurationProps {
  applicationId: string
}

function ApplicationConfiguration({ applicationId }: ApplicationConfigurationProps): ReactElement {
  const { data: stored, error, refetch } = useConfiguration(applicationId)
  const [draft, setDraft] = useDraft(applicationId)
  if (stored)
    return (
      <Editor key={applicationId} applicationId={applicationId} stored={stored} draft={draft} setDraft={setDraft} />
    )
  return (
    <Page title={title}>
      {error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <Skeleton height={320} />}
    </Page>
  )
}

interface EditorProps {
  applicationId: string
  stored: StoredConfiguration
  draft: ConfigurationDraft | null
  setDraft(draft: ConfigurationDraft | null): void
}

const example = JSON.stringify(
  { title: 'Harbours', map: { center: [10.2, 54.3], zoom: 8 }, features: { search: true, measure: false } },
  null,
  2,
)

interface FirstStepsProps {
  onExample(): void
}

function FirstSteps({ onExample }: FirstStepsProps): ReactElement {
  return (
    <Note>
      <div className={layout.section}>
        <p>
          Any JSON that your pages need when they start: titles, the place that a map begins with, what is switched on.
          What you save here they have at the next load, without being deployed anew.
        </p>
        <div>
          <Button onClick={onExample}>Begin with an example</Button>
        </div>
      </div>
    </Note>
  )
}

const textOf = ({ config }: StoredConfiguration): string => JSON.stringify(config, null, 2)

function Editor({ applicationId, stored, draft, setDraft }: EditorProps): ReactElement {
  const refusal = useRefusal()('appconfig', 'write', applicationId)
  const confirm = useConfirm()
  const [isSaving, setSaving] = useState(false)
  const base = draft?.base ?? stored
  const text = draft?.text ?? textOf(stored)
  const { config, fault } = readConfiguration(text)
  const change = (next: string) => setDraft(next === textOf(base) ? null : { text: next, base })
  const askSave = () => {
    if (draft && config && !refusal) setSaving(true)
  }
  const discard = () =>
    confirm({
      title: 'Discard your changes?',
      body: 'What you have typed since the last save is lost.',
      action: 'Discard',
      onConfirm: async () => setDraft(null),
    })
  return (
    <Page
      title={title}
      facts={draft ? '● unsaved changes' : factsOf(stored)}
      isPadded={false}
      actions={
        <>
          {draft && <Button onClick={discard}>Discard</Button>}
          <Button
            variant="primary"
            icon="save"
            disabled={!refusal && (!draft || !config)}
            disabledReason={refusal}
            onClick={askSave}
          >
            Save …
          </Button>
        </>
      }
    >
      <div className={classes.columns}>
        <div className={classes.editor}>
          {fault && <Note kind="warn">{fault}</Note>}
          {refusal && <Note>{refusal}</Note>}
          {!refusal && !draft && dottedKeys(stored.config).length === 0 && (
            <FirstSteps onExample={() => change(example)} />
          )}
          <div className={classes.fill}>
            <CodeEditor
              language="json"
              label="Configuration as JSON"
              value={text}
              onChange={change}
              onSave={askSave}
              isReadOnly={refusal !== undefined}
              isFilling
            />
          </div>
        </div>
        <KeyList config={config ?? stored.config} />
      </div>
      {isSaving && config && (
        <SaveDialog
          applicationId={applicationId}
          base={base}
          config={config}
          onClose={() => setSaving(false)}
          onSaved={() => {
            setSaving(false)
            setDraft(null)
          }}
          onTakeTheirs={() => {
            setSaving(false)
            setDraft(null)
          }}
        />
      )}
    </Page>
  )
}

function factsOf({ config, updatedAt }: StoredConfiguration): string {
  if (!updatedAt) return 'empty: front ends that ask for it get {}'
  return `${formatBytes(new TextEncoder().encode(JSON.stringify(config)).length)} · changed ${formatRelative(updatedAt)}`
}
