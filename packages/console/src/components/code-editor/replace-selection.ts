/**
 * Replaces a selection by typed text in code. The browser's own replacement writes a `style` attribute, which the content
 * security policy forbids and reports.
 */
import type { Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'

export const replaceSelection: Extension = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { main, ranges } = view.state.selection
    if (event.inputType !== 'insertText' || event.data === null || view.composing) return false
    if (ranges.length > 1 || main.empty || view.state.readOnly) return false
    const { data } = event
    const insert = () =>
      view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true })
    const handlers = view.state.facet(EditorView.inputHandler)
    if (!handlers.some((handle) => handle(view, main.from, main.to, data, insert))) view.dispatch(insert())
    event.preventDefault()
    return true
  },
})
