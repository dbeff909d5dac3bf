/** The list of shortcuts, and a switch that disables single letters. */
import { type ReactElement, useState } from 'react'
import { Dialog } from '../components/dialog.tsx'
import { Checkbox } from '../components/field.tsx'
import { Kbd } from '../components/note.tsx'
import classes from './shell.module.css'
import { areLettersOn, setLettersOn } from './shortcuts.ts'

const shortcuts: [keys: string[], does: string][] = [
  [['Ctrl', 'K'], 'Search and commands'],
  [['/'], 'Search on this page'],
  [['g', 'h'], 'Home'],
  [['g', 'd'], 'Data'],
  [['g', 'm'], 'Maps'],
  [['g', 'a'], 'Access'],
  [['g', 'g'], 'Agents'],
  [['u'], 'Upload a file'],
  [['m'], 'Show or hide the map beside a table'],
  [['n'], 'Add a row to the table'],
  [['e'], 'Edit the selected row'],
  [['Delete'], 'Delete the selected rows'],
  [['Enter'], 'In a table: edit the cell; Tab goes on, Esc gives up'],
  [['Alt', 'Enter'], 'In a table: all fields of the row'],
  [['['], 'Narrow or wide rail'],
  [['Esc'], 'Close, then clear the selection'],
  [['Ctrl', 'Enter'], 'Run a query, send a question, save a row'],
  [['Ctrl', 'S'], 'Save'],
  [['Ctrl', 'Z'], 'Undo: in the editor of maps, and in tables'],
  [['?'], 'This list'],
]

interface ShortcutHelpProps {
  isOpen: boolean
  onClose(): void
}

export function ShortcutHelp({ isOpen, onClose }: ShortcutHelpProps): ReactElement {
  const [areOn, setOn] = useState(areLettersOn)
  return (
    <Dialog title="Keyboard" isOpen={isOpen} onClose={onClose}>
      <table className={classes.help}>
        <tbody>
          {shortcuts.map(([keys, does]) => (
            <tr key={does}>
              <td>
                {keys.map((key) => (
                  <Kbd key={key}>{key}</Kbd>
                ))}
              </td>
              <td>{does}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Checkbox
        role="switch"
        label="Single letters are shortcuts"
        isChecked={areOn}
        onChange={(isOn) => {
          setOn(isOn)
          setLettersOn(isOn)
        }}
      />
    </Dialog>
  )
}
