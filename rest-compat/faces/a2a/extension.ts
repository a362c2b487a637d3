import type { RequestHeaders } from '../../door-request.ts';

/*
 * The x402 extension of A2A (github.com/google-agentic-commerce/a2a-x402): the payment is in the metadata of messages. Both versions use
 * the shapes of x402; clients of 0.1 use those of x402 version 1.
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

/** The header has no `X-` in 1.0. */
const HEADERS = ['a2a-extensions', 'x-a2a-extensions'] as const;

/** The newest extension that the client has activated. Null if there is none. */
export function activeExtension(headers: RequestHeaders): Extension | null {
  const uris = HEADERS.flatMap(name => String(headers[name] ?? '').split(',')).map(uri => uri.trim());
  return x402Extensions.find(({ uri }) => uris.includes(uri)) ?? null;
}

/** The response confirms the activation in the header that the request used. */
export function echoOf(extension: Extension | null, headers: RequestHeaders): Record<string, string> {
  if (extension === null) return {};
  return { [headers['a2a-extensions'] === undefined ? 'X-A2A-Extensions' : 'A2A-Extensions']: extension.uri };
}
