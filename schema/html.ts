import type { Json } from './canonical-json.ts';

/* Text as a part of HTML: whatever is put in is escaped, but for what was made here. */

export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Whatever is put in is text, but for what this function itself has made. */
export function html(
  parts: TemplateStringsArray,
  ...values: readonly (Json | Html | readonly Html[] | undefined)[]
): Html {
  return new Html(parts.reduce((whole, part, index) => whole + shown(values[index - 1]) + part));
}

function shown(value: Json | Html | readonly Html[] | undefined): string {
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map(shown).join('');
  return escaped(value === null || value === undefined ? '' : String(value));
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string) => text.replace(/[&<>"']/g, it => entities[it] ?? it);
