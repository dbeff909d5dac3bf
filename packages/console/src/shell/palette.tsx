/** The command palette: pages, actions, and the tenant's records by name; most recently used first. */
import { Autocomplete } from '@base-ui/react/autocomplete'
import { Dialog } from '@base-ui/react/dialog'
import { useNavigate } from '@tanstack/react-router'
import { type ReactElement, useState } from 'react'
import { Icon } from '../components/icon.tsx'
import { Kbd } from '../components/note.tsx'
import popup from '../components/popup/popup.module.css'
import classes from './palette.module.css'
import { type Command, matching, noteUse, usePaletteCommands } from './palette-commands.ts'
import { useRecords } from './palette-records.ts'

interface PaletteProps {
  onClose(): void
}

export function Palette({ onClose }: PaletteProps): ReactElement {
  const [text, setText] = useState('')
  const navigate = useNavigate()
  const commands = usePaletteCommands(navigate)
  const records = useRecords(text.trim(), navigate)
  const groups = [
    { value: 'Go to', items: matching(commands.pages, text) },
    { value: 'Do', items: matching(commands.actions, text) },
    ...records,
  ].filter(({ items }) => items.length > 0)
  const run = (command: Command) => {
    onClose()
    noteUse(command.id)
    command.run()
  }
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={popup.backdrop} />
        <Dialog.Popup aria-label="Search and commands" className={classes.popup}>
          <Autocomplete.Root
            open
            inline
            items={groups}
            filter={null}
            value={text}
            onValueChange={(value) => setText(value)}
            itemToStringValue={(item) => (item as unknown as Command).label}
            autoHighlight="always"
            keepHighlight
          >
            <div className={classes.input}>
              <Icon name="search" />
              <Autocomplete.Input
                aria-label="Search pages, data, maps and commands"
                placeholder="Search pages, data, maps, commands …"
              />
              <Kbd>Esc</Kbd>
            </div>
            <Autocomplete.Empty>
              {groups.length === 0 && <div className={classes.empty}>Nothing is called “{text}”.</div>}
            </Autocomplete.Empty>
            <Autocomplete.List className={classes.list}>
              {(group: (typeof groups)[number]) => (
                <Autocomplete.Group key={group.value} items={group.items}>
                  <Autocomplete.GroupLabel className={classes.label}>{group.value}</Autocomplete.GroupLabel>
                  <Autocomplete.Collection>
                    {(command: Command) => (
                      <Autocomplete.Item
                        key={command.id}
                        value={command}
                        className={classes.item}
                        onClick={() => run(command)}
                      >
                        <Icon name={command.icon} />
                        <span>{command.label}</span>
                        {command.keys?.map((key) => (
                          <Kbd key={key}>{key}</Kbd>
                        ))}
                      </Autocomplete.Item>
                    )}
                  </Autocomplete.Collection>
                </Autocomplete.Group>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
