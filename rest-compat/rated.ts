import type { Door } from './door.ts';
import type { Visit } from './gate.ts';
import type { Port, RateTurn } from './port.ts';
import { type Answer, problem } from './problem.ts';

/**
 * A free door, as often as its caller's address may: each answer says how often that still is, but those to whom it stays
 * shut, which are alike to the last byte.
 */
export async function rated<A extends Pick<Answer, 'headers' | 'status'>>(
  { price, rated: bounded }: Door,
  { address }: Visit,
  port: Port,
  open: () => Promise<A>,
): Promise<A | Answer> {
  if (price !== null || !bounded) return open();
  const turn = port.rates.take('free', address);
  if (turn.kind === 'beyond') return tooMany(turn);
  const answer = await open();
  return silent.has(answer.status) ? answer : { ...answer, headers: { ...turn.headers, ...answer.headers } };
}

/** A 429 from further in names the policy that refused it, which is not this one. */
const silent: ReadonlySet<number> = new Set([401, 403, 429]);

/** RFC 6585 §4. */
export function tooMany({ headers, retry_after_seconds }: Extract<RateTurn, { kind: 'beyond' }>): Answer {
  return problem({ code: 'rate_limited', facts: { retry_after_seconds } }, headers);
}
