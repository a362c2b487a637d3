import { createHash } from 'node:crypto';

const hashSource = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Content-Security-Policy of a page in one file: it loads nothing, and runs only its own script and style. */
export function pagePolicy(
  { script, style }: { readonly script: string | null; readonly style: string },
  ...more: readonly string[]
): string {
  return [
    "default-src 'none'",
    `script-src ${script === null ? "'none'" : hashSource(script)}`,
    `style-src ${hashSource(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    ...more,
  ].join('; ');
}
