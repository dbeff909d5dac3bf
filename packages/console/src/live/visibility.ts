/** Whether the tab is hidden: behind another one, or minimized. */

export interface Visibility {
  isHidden(): boolean
  subscribe(listener: () => void): () => void
}

export const pageVisibility: Visibility = {
  isHidden: () => document.hidden,
  subscribe(listener) {
    document.addEventListener('visibilitychange', listener)
    return () => document.removeEventListener('visibilitychange', listener)
  },
}
