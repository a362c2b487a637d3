import { visibleText } from './bidi.js';
import type { Json } from './canonical-json.ts';

/* Text as a part of markup: whatever is put in is escaped, but for what was made here. */

export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Value = Json | Html | readonly Html[] | undefined;
type Markup = (parts: TemplateStringsArray, ...values: readonly Value[]) => Html;

/**
 * HTML. Whatever is put in is text, but for what this function itself has made. Controls of direction are made visible, and text that
 * runs from right to left is isolated: neither reorders what stands beside it.
 */
export const html: Markup = (parts, ...values) => {
  const holds_elements = elementPlaces(parts);
  return filled(parts, values, (text, at) => {
    const escaped = escapedText(visibleText(text));
    return holds_elements[at] && RIGHT_TO_LEFT.test(text) ? `<bdi>${escaped}</bdi>` : escaped;
  });
};

/** XML, in which text stays as it is: who reads it shows it. */
export const xml: Markup = (parts, ...values) => filled(parts, values, escapedText);

function filled(
  parts: TemplateStringsArray,
  values: readonly Value[],
  written: (text: string, at: number) => string,
): Html {
  const shown = (value: Value, at: number): string => {
    if (value instanceof Html) return value.text;
    if (Array.isArray(value)) return value.map(one => shown(one, at)).join('');
    return value === null || value === undefined ? '' : written(String(value), at);
  };
  return new Html(parts.reduce((whole, part, at) => whole + shown(values[at - 1], at - 1) + part));
}

const places = new WeakMap<TemplateStringsArray, readonly boolean[]>();

/** Whether an element may stand in place of each value: neither inside a tag nor in the title, which holds text alone. */
function elementPlaces(parts: TemplateStringsArray): readonly boolean[] {
  const known = places.get(parts);
  if (known) return known;
  const found = parts.map((_, at) => {
    const before = parts.slice(0, at + 1).join('');
    return before.lastIndexOf('>') >= before.lastIndexOf('<') && !before.endsWith('<title>');
  });
  places.set(parts, found);
  return found;
}

/** Blocks of the scripts that run so. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapedText = (text: string) => text.replace(/[&<>"']/g, it => entities[it] ?? it);
