import { escapeControls } from './bidi.js';
import type { Json } from './canonical-json.ts';

/* Templates of markup: each value is escaped, unless a template made it. */

export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Value = Json | Html | readonly Html[] | undefined;
type Markup = (parts: TemplateStringsArray, ...values: readonly Value[]) => Html;

/**
 * HTML. In text, bidirectional control characters are shown as escapes, and right-to-left text is isolated, so neither reorders the text
 * beside it.
 */
export const html: Markup = (parts, ...values) => {
  const holds_elements = elementPlaces(parts);
  return fillTemplate(parts, values, (text, at) => {
    const escaped = escapedText(escapeControls(text));
    return holds_elements[at] && RIGHT_TO_LEFT.test(text) ? `<bdi>${escaped}</bdi>` : escaped;
  });
};

/** XML, whose text is data: control characters stay, and the program that displays it isolates it. */
export const xml: Markup = (parts, ...values) => fillTemplate(parts, values, escapedText);

function fillTemplate(
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

/** For each value, whether an element may replace it: not inside a tag, nor in the title, which contains text only. */
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

/** Unicode blocks of right-to-left scripts. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapedText = (text: string) => text.replace(/[&<>"']/g, it => entities[it] ?? it);
