import { limits } from '../../../schema/limits.ts';
import { iso } from '../../clock.ts';
import type { BookContext } from '../context.ts';
import type { Allowance } from './book.type.ts';
import type { PageHead } from './page.ts';

/** Latest signed allowances by issuer and agent id, oldest first. */
const signed = new WeakMap<BookContext['issuer'], Map<number, Allowance>>();

/**
 * Returns the signed remaining allowance of a book. An allowance that is less than a second old and has the same amount is returned
 * again with its time, so that polling does not cost a signature per page.
 */
export function allowanceOf(
  { head: { agentId }, spending: { remaining } }: Pick<PageHead, 'head' | 'spending'>,
  { issuer, clock }: Pick<BookContext, 'issuer' | 'clock'>,
): Allowance {
  const now_ms = clock.now_ms();
  const allowances = signed.get(issuer) ?? new Map<number, Allowance>();
  signed.set(issuer, allowances);
  const last = allowances.get(agentId);
  const age_ms = last ? now_ms - last.asOf.getTime() : Number.POSITIVE_INFINITY;
  if (last?.remaining === remaining && age_ms >= 0 && age_ms < limits.allowance_ms_max) return last;

  const as_of = iso(now_ms);
  const { alg, value } = issuer.signAllowance({ agent_id: agentId, remaining: remaining?.toString() ?? null, as_of });
  const made = { agentId, remaining, asOf: new Date(as_of), signature: { alg, value } };
  allowances.delete(agentId);
  allowances.set(agentId, made);
  for (const oldest of allowances.keys()) {
    if (allowances.size <= limits.allowances_kept_max) break;
    allowances.delete(oldest);
  }
  return made;
}
