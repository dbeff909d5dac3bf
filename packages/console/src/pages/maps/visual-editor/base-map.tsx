/** The settings of the base map: which one, its visibility, and the initial camera. */
import { useMutation, useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { Button, IconButton } from '../../../components/button.tsx'
import { ErrorNote } from '../../../components/error-note.tsx'
import { Select } from '../../../components/field.tsx'
import { useToast } from '../../../components/toast.tsx'
import { useClient } from '../../../session/session.tsx'
import { useEditor } from '../editor-context.tsx'
import { noBaseId, readBase, readerBaseId } from '../new-map.ts'
import { withBase } from '../recipe/map-style.ts'
import { viewOf } from '../start-view.ts'
import { isBaseStyle, styleListQuery } from '../styles-query.ts'
import classes from './visual-editor.module.css'

/** The style's own base map, not one of the list. */
const baseOfStyle = ''

export function BaseMap(): ReactElement {
  const { recipes, change, changeRecipes, map } = useEditor()
  const client = useClient()
  const { say } = useToast()
  const { data: styles = [] } = useQuery(styleListQuery(client))
  const choose = useMutation({
    async mutationFn(id: string) {
      const base = await readBase(client, id)
      change((now) => ({ ...now, style: withBase(now.style, base.style, base.id, base.dark) }))
    },
  })
  const choices = styles.filter(isBaseStyle).map(({ id, name }) => ({ value: id, label: name }))
  const isKnown =
    recipes.baseId === noBaseId ||
    recipes.baseId === readerBaseId ||
    choices.some(({ value }) => value === recipes.baseId)
  return (
    <div className={classes.base}>
      <div className={classes.baseRow}>
        <Select
          label="Base map"
          value={isKnown ? (recipes.baseId ?? baseOfStyle) : baseOfStyle}
          options={[
            ...(isKnown ? [] : [{ value: baseOfStyle, label: 'Of this style' }]),
            { value: readerBaseId, label: 'Light or dark, as readers prefer' },
            ...choices,
            { value: noBaseId, label: 'None' },
          ]}
          onChange={(id) => id !== baseOfStyle && choose.mutate(id)}
        />
        <IconButton
          icon={recipes.isBaseHidden ? 'eyeOff' : 'eye'}
          label={recipes.isBaseHidden ? 'Show the base map' : 'Hide the base map'}
          onClick={() => changeRecipes((now) => ({ ...now, isBaseHidden: !now.isBaseHidden }))}
        />
      </div>
      {choose.error && <ErrorNote error={choose.error} />}
      <Button
        icon="locate"
        onClick={() => {
          const gl = map.current?.gl
          if (!gl) return
          change((now) => ({ ...now, style: { ...now.style, ...viewOf(gl) } }))
          say({ title: 'The map begins here now', text: 'Save it to keep this view.' })
        }}
      >
        Begin with this view
      </Button>
    </div>
  )
}
