/** Says whether the page follows changes, and explains it on hover, focus or touch. */
import type { ChangeStreamState } from '@graticule/client'
import type { ReactElement } from 'react'
import { Popover } from '../components/popup/popover.tsx'
import classes from './live.module.css'

const signs: Record<ChangeStreamState['kind'], { word: string; text: string }> = {
  live: { word: 'Live', text: 'What others write to this dataset appears here within about a second.' },
  connecting: {
    word: 'Connecting …',
    text: 'Changes are not followed at the moment. What is missed is read as soon as the server can be reached.',
  },
  paused: { word: 'Paused', text: 'Changes are not followed while the tab is hidden. They are read when it is shown.' },
  refused: { word: 'Not live', text: 'Changes do not appear by themselves here.' },
}

interface LiveSignProps {
  state: ChangeStreamState
}

export function LiveSign({ state }: LiveSignProps): ReactElement {
  const { word, text } = signs[state.kind]
  return (
    <Popover
      label="About live data"
      isOpenedByHover
      trigger={
        <button type="button" className={classes.sign} data-state={state.kind}>
          {word}
        </button>
      }
    >
      <p className={classes.text}>{text}</p>
      {state.kind === 'refused' && (
        <p className={classes.text}>{state.error instanceof Error ? state.error.message : String(state.error)}</p>
      )}
    </Popover>
  )
}
