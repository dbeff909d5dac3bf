/** The options `popup`, `selectionPopup` and `tooltip` of a data source as functions that return content. */
import type { FieldsContent } from '../popups/fields.ts'
import type { PopupFunction } from '../popups/popups.ts'
import type { DataSourceOptions } from './source-options.ts'

/** Declared content is made by code that is loaded when it is first shown. */
const declared =
  (content: FieldsContent): PopupFunction =>
  async (context) =>
    (await import('../popups/fields.ts')).contentOf(content, context)

const functionOf = (content: FieldsContent | PopupFunction): PopupFunction =>
  typeof content === 'function' ? content : declared(content)

/** A text is the id of a registered popup. */
export const popupOf = ({ selectionPopup, popup }: DataSourceOptions): string | PopupFunction | undefined =>
  selectionPopup ?? (popup && functionOf(popup))

export const tooltipOf = ({ tooltip }: DataSourceOptions): PopupFunction | undefined =>
  tooltip === undefined ? undefined : functionOf(typeof tooltip === 'string' ? { title: tooltip } : tooltip)
