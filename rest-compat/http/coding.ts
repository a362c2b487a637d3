import { negotiate } from '@fastify/accept-negotiator';

/** Codings of compressed answers. If a client accepts both equally, the cheaper one is used. */
export const codings = ['gzip', 'br'] as const;
type Coding = (typeof codings)[number];

/** The coding that a request accepts (RFC 9110 12.5.3), parsed as @fastify/compress does. Null if it accepts none. */
export function codingFor(accepted: string | undefined): Coding | null {
  if (accepted === undefined) return null;
  const named = accepted.toLowerCase().replace(/\*|x-gzip/g, 'gzip');
  return negotiate<Coding>(named, [...codings]);
}
