const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes text for HTML, also for attribute values. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => entities[char] ?? '')
