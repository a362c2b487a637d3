import { negotiate } from '@fastify/accept-negotiator';

/** In which answers are compressed; the cheaper one goes first where a caller likes both. */
export const codings = ['gzip', 'br'] as const;
type Coding = (typeof codings)[number];

/** What a request takes by its Accept-Encoding (RFC 9110 12.5.3), as @fastify/compress reads it; null where it takes none. */
export function codingFor(accepted: string | undefined): Coding | null {
  if (accepted === undefined) return null;
  const named = accepted.toLowerCase().replace(/\*|x-gzip/g, 'gzip');
  return negotiate<Coding>(named, [...codings]);
}
