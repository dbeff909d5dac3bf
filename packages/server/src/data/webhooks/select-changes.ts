// Which of the logged changes a webhook is about.
import type { ChangeExtent, LoggedChange } from '../changes/change-log.ts'
import type { Webhook } from './webhook.ts'

/** By operation and box. What has no known place may be anywhere, what has no geometry is nowhere. */
export function isSelected({ operation, boxes }: LoggedChange, { operations, bbox }: Webhook): boolean {
  if (!operations.includes(operation)) return false
  return bbox === null || boxes === undefined || boxes.some((box) => meets(box, bbox))
}

function meets(
  [west, south, east, north]: ChangeExtent,
  [left = 0, bottom = 0, right = 0, top = 0]: readonly number[],
): boolean {
  if (north < bottom || south > top) return false
  // A box whose west is beyond its east goes over the antimeridian.
  return left <= right ? west <= right && east >= left : west <= right || east >= left
}
