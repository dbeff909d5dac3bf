/** The name and the description of a map. */
import type { ReactElement } from 'react'
import { TextArea, TextField } from '../../../components/field.tsx'
import { useEditor } from '../editor-context.tsx'
import classes from './visual-editor.module.css'

export function MapFields(): ReactElement {
  const { document, change } = useEditor()
  return (
    <div className={classes.mapFields}>
      <TextField
        label="Name of the map"
        value={document.name}
        maxLength={255}
        onChange={(name) => change((now) => ({ ...now, name }), 'name')}
      />
      <TextArea
        label="Description"
        value={document.description}
        rows={2}
        maxLength={10_000}
        onChange={(description) => change((now) => ({ ...now, description }), 'description')}
      />
    </div>
  )
}
