import { z } from 'zod';
import { type AtomicAmount, atomicAmount } from '../amount.ts';
import type { Json, JsonObject } from '../canonical-json.ts';
import { Refusal } from '../errors.ts';
import { policyLimits } from '../limits.ts';
import { onGraph } from '../noun.ts';
import type { BookPolicy } from '../policy-kinds.ts';
import { policyTypes } from '../policy-types.ts';
import { bookPageSize, Moment } from './book.ts';
import { pageLimit } from './page-limit.ts';
import { parsePolicy, policyNames } from './policy.ts';
import { PossessionMembers } from './possession.ts';

/**
 * Body of POST /v1/agents/{agent_id}/book/policy/simulate. Possession is checked before the body is parsed. An unknown member is refused,
 * because with a misspelled `from` all of the book would be simulated.
 */
export const SimulationRequest = PossessionMembers.extend({
  policy: z
    .record(z.string(), z.unknown(), { error: 'must be an object' })
    .describe(
      `Policies to be tried, at least one: any of ${policyNames.join(', ')}, each with the value that it would be set to, and budget in atomic USDC. Example: \`{"hourly_cap": "20000"}\`.`,
    )
    .meta({ scalar: 'JSONObject' }),
  from: Moment.optional().describe(
    'Only calls whose `collected_at` is this time or later: RFC 3339 or, by REST and MCP, a day such as `2026-11-30` (its start, UTC). Default: starts at the first call.',
  ),
  to: Moment.optional().describe(
    'Only calls whose `collected_at` is before this time: RFC 3339 or, by REST and MCP, a day such as `2026-11-30` (its start, UTC). Default: ends at the last call.',
  ),
  limit: pageLimit({ of: 'calls', min: 0, ...bookPageSize, note: '0 returns only the sums.' }),
  cursor: onGraph(
    'after',
    z
      .string()
      .max(policyLimits.simulation_cursor_chars_max)
      .optional()
      .describe(
        '`cursor` of the previous page, sent with the same policy, `from` and `to`. The simulation goes on from there; calls refused on earlier pages stay refused. Default: the first page.',
      ),
  ),
}).strict();

/** The simulated terms, in the form in which a book stores them. */
export interface TriedTerms {
  readonly policy: BookPolicy;
  readonly budget_atomic: AtomicAmount | null;
}

/** Null members are not set. @throws Refusal invalid_policy, which names the member */
export function parseTried(tried: JsonObject): TriedTerms {
  const set = Object.entries(tried).filter(([, value]) => value !== null);
  if (set.length === 0) throw invalid('policy', 'policy: must name at least one policy, or a budget, to simulate.');
  const policy = set.filter(([name]) => name !== 'budget').map(([name, value]) => parseMember(name, value));
  const { budget = null } = tried;
  return { policy: Object.fromEntries(policy) as BookPolicy, budget_atomic: parseBudget(budget) };
}

function parseMember(name: string, value: Json): readonly [string, unknown] {
  try {
    return [name, parsePolicy(name, value).value];
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    throw invalid(`policy.${name.slice(0, 64)}`, refusal.message);
  }
}

function parseBudget(budget: Json): AtomicAmount | null {
  if (budget === null) return null;
  const { value, wants } = policyTypes.cap;
  const parsed = value.safeParse(budget);
  if (!parsed.success) throw invalid('policy.budget', `budget ${wants}.`);
  return atomicAmount(BigInt(parsed.data));
}

function invalid(param: string, detail: string): Refusal {
  return new Refusal('invalid_policy', { param, detail });
}
