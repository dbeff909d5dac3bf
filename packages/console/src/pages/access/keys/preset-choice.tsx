/** Presets: common sets of permissions. */
import { useMutation } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import type { Permissions } from '../../../../../server/src/api/access/grants.ts'
import { Segmented, Select } from '../../../components/field.tsx'
import { FormDialog } from '../../../components/form-dialog.tsx'
import { useClient } from '../../../session/session.tsx'
import type { Resources } from '../acl/resources.ts'
import { mapPermissions, type Preset, presetOf, presetPermissions } from './key-draft.ts'
import classes from './key-editor.module.css'

interface PresetChoiceProps {
  permissions: Permissions
  resources: Resources
  onChange(permissions: Permissions): void
}

const presets: { value: Preset; label: string }[] = [
  { value: 'public', label: 'Public' },
  { value: 'developer', label: 'Developer' },
  { value: 'map', label: 'Read one map …' },
  { value: 'custom', label: 'Custom' },
]

export function PresetChoice({ permissions, resources, onChange }: PresetChoiceProps): ReactElement {
  const [isChoosing, setChoosing] = useState(false)
  const choose = (preset: Preset) => {
    if (preset === 'map') setChoosing(true)
    else if (preset !== 'custom') onChange(presetPermissions[preset])
    else if (presetOf(permissions) !== 'custom') onChange({})
  }
  return (
    <div className={classes.presets}>
      <span aria-hidden="true">Begin with</span>
      <Segmented label="Begin with" value={presetOf(permissions)} options={presets} onChange={choose} />
      {isChoosing && (
        <MapChoice
          resources={resources}
          onClose={() => setChoosing(false)}
          onChoose={(next) => {
            onChange(next)
            setChoosing(false)
          }}
        />
      )}
    </div>
  )
}

interface MapChoiceProps {
  resources: Resources
  onClose(): void
  onChoose(permissions: Permissions): void
}

function MapChoice({ resources, onClose, onChoose }: MapChoiceProps): ReactElement {
  const client = useClient()
  const styles = resources.styles ?? []
  const [styleId, setStyleId] = useState(styles[0]?.id ?? '')
  const read = useMutation({
    mutationFn: () => client.styles.get(styleId),
    onSuccess: ({ style }) =>
      onChoose(mapPermissions(styleId, style, new Set(resources.datasets?.map(({ id }) => id)))),
  })
  return (
    <FormDialog
      title="Read one map"
      onClose={onClose}
      labels={['Use this map', 'Reading …']}
      isPending={read.isPending}
      missing={styleId === '' ? 'There is no map to choose.' : undefined}
      error={read.error}
      onSubmit={() => read.mutate()}
    >
      <p>The key will show this map, the tiles in it and the datasets they are made of, and nothing else.</p>
      {styles.length === 0 ? (
        <p>There is no map that this key can see.</p>
      ) : (
        <Select
          label="Map"
          value={styleId}
          options={styles.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={setStyleId}
        />
      )}
    </FormDialog>
  )
}
