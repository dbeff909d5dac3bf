/** Asks an agent and streams its answer. */
import type { Agent, AgentQuestion } from '@graticule/client'
import { type ReactElement, useState } from 'react'
import { Button } from '../../../components/button.tsx'
import { CodeEditor } from '../../../components/code-editor/code-editor.tsx'
import { Segmented, TextArea } from '../../../components/field.tsx'
import { Kbd } from '../../../components/note.tsx'
import { useRefusal } from '../../../session/session.tsx'
import classes from './playground.module.css'
import { readQuestion, templateQuestion } from './question-json.ts'
import { Transcript } from './transcript.tsx'
import type { Conversation } from './use-conversation.ts'

interface PlaygroundProps {
  agent: Agent
  conversation: Conversation
}

export function Playground({ agent, conversation }: PlaygroundProps): ReactElement {
  return (
    <div className={classes.playground}>
      <Transcript agent={agent} conversation={conversation} />
      <Ask agent={agent} conversation={conversation} />
    </div>
  )
}

type InputKind = 'text' | 'json'
const inputKinds: readonly { value: InputKind; label: string }[] = [
  { value: 'text', label: 'Text' },
  { value: 'json', label: 'JSON' },
]

interface AskProps {
  agent: Agent
  conversation: Conversation
}

function Ask({ agent, conversation }: AskProps): ReactElement {
  const { isRunning, ask, stop, turns, restart } = conversation
  const [kind, setKind] = useState<InputKind>('text')
  const [text, setText] = useState('')
  const [body, setBody] = useState(templateQuestion)
  const [fault, setFault] = useState<string | undefined>()
  const refusal = useRefusal()('agents', 'execute', agent.id)
  const send = () => {
    if (isRunning) return
    if (refusal) return setFault(refusal)
    const question = kind === 'text' ? askText(text) : readQuestion(body)
    setFault(question.fault)
    if (!question.body) return
    ask(question.body)
    if (kind === 'text') setText('')
  }
  return (
    <form
      className={classes.ask}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      {kind === 'text' ? (
        <TextArea
          label="Ask the agent"
          isLabelHidden
          placeholder="Ask the agent …"
          rows={3}
          value={text}
          error={fault}
          onChange={setText}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
            event.preventDefault()
            send()
          }}
        />
      ) : (
        <JsonInput value={body} fault={fault} onChange={setBody} onSend={send} />
      )}
      <div className={classes.controls}>
        <Segmented label="Input as" value={kind} options={inputKinds} onChange={(next) => setKind(next)} />
        <Button icon="plus" aria-label="New conversation" disabled={turns.length === 0} onClick={restart}>
          <span className={classes.wideLabel}>New conversation</span>
        </Button>
        <span className={classes.spring} />
        <span className={classes.keys}>
          <Kbd>Ctrl</Kbd> <Kbd>Enter</Kbd>
        </span>
        {/* Keys make them two buttons; one that changed during a click would trigger the other's action. */}
        {isRunning ? (
          <Button key="stop" icon="stop" onClick={stop}>
            Stop
          </Button>
        ) : (
          <Button key="send" variant="primary" icon="send" type="submit" disabledReason={refusal}>
            Send
          </Button>
        )}
      </div>
    </form>
  )
}

const askText = (text: string): { body?: AgentQuestion; fault?: string } =>
  text.trim() === '' ? { fault: 'Write something to ask first.' } : { body: { input: text } }

interface JsonInputProps {
  value: string
  fault: string | undefined
  onChange(value: string): void
  onSend(): void
}

function JsonInput({ value, fault, onChange, onSend }: JsonInputProps): ReactElement {
  return (
    <div>
      <div className={classes.editor}>
        <CodeEditor
          language="json"
          label="The request as JSON"
          value={value}
          onChange={onChange}
          onRun={onSend}
          minHeight={96}
        />
      </div>
      <p className={classes.hint}>
        The body of the request: <code>input</code>, and <code>context</code>, <code>options</code>,{' '}
        <code>messages</code>, <code>metadata</code> where wanted. The conversation is added unless it names one.
      </p>
      {fault && (
        <p role="alert" className={classes.fault}>
          {fault}
        </p>
      )}
    </div>
  )
}
