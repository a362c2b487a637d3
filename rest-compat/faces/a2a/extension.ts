import type { RequestHeaders } from '../../door-request.ts';

/*
 * The x402 extension of A2A (github.com/google-agentic-commerce/a2a-x402): the payment travels in the metadata of messages.
 * Both of its versions leave the shapes to x402; clients of 0.1 are made with those of x402's first version.
 */

export interface Extension {
  readonly uri: string;
  readonly x402_version: 1 | 2;
}

/** The newest first. */
export const x402Extensions: readonly Extension[] = [
  { uri: 'https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2', x402_version: 2 },
  { uri: 'https://github.com/google-a2a/a2a-x402/v0.1', x402_version: 1 },
];

/** 1.0 names the header without the X. */
const HEADERS = ['a2a-extensions', 'x-a2a-extensions'] as const;

/** The newest of those that a client has activated; null where it has none. */
export function activated(headers: RequestHeaders): Extension | null {
  const asked = HEADERS.flatMap(name => String(headers[name] ?? '').split(',')).map(uri => uri.trim());
  return x402Extensions.find(({ uri }) => asked.includes(uri)) ?? null;
}

/** That it is activated is said by the header by which it was asked for. */
export function echoOf(extension: Extension | null, headers: RequestHeaders): Record<string, string> {
  if (extension === null) return {};
  return { [headers['a2a-extensions'] === undefined ? 'X-A2A-Extensions' : 'A2A-Extensions']: extension.uri };
}
