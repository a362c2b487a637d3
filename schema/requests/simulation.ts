import { z } from 'zod';
import { type AtomicAmount, atomicAmount } from '../amount.ts';
import type { Json, JsonObject } from '../canonical-json.ts';
import { Refusal } from '../errors.ts';
import { limits, policyLimits } from '../limits.ts';
import type { BookPolicy } from '../policy-kinds.ts';
import { policyTypes } from '../policy-types.ts';
import { Moment } from './book.ts';
import { parsePolicy, policyNames } from './policy.ts';
import { PossessionMembers } from './possession.ts';

const LIMIT_BOUNDS = `is a whole number from 0 to ${limits.book_page_rows_max}; a larger one is clamped`;

/** What is asked of a simulation beside its policies; GraphQL's arguments are held to it, too. */
export const simulationMembers = {
  from: Moment.optional().describe('Calls collected at this moment or later; from the first on where it is left out.'),
  to: Moment.optional().describe('Calls collected before this moment; up to the last where it is left out.'),
  limit: z
    .int({ error: LIMIT_BOUNDS })
    .min(0, { error: LIMIT_BOUNDS })
    .optional()
    .describe(`Calls that are listed; default ${limits.book_page_rows_default}, 0 for the sums alone.`),
  cursor: z
    .string()
    .max(policyLimits.simulation_cursor_chars_max)
    .optional()
    .describe('As the page before gave it: what was blocked by then goes into what follows.'),
} as const;

/**
 * Body of POST /v1/agents/{agent_id}/book/policy/simulate; possession in it was looked at before. A member that is not known
 * is refused: `from` misspelt would try all of the book.
 */
export const SimulationRequest = PossessionMembers.extend({
  policy: z
    .record(z.string(), z.unknown())
    .describe(`What is to be tried: any of ${policyNames.join(', ')}, and budget, each as it is set.`),
  ...simulationMembers,
}).strict();

/** What is tried, as a book would keep it. */
export interface TriedTerms {
  readonly policy: BookPolicy;
  readonly budget_atomic: AtomicAmount | null;
}

/** Members that are null are not set. @throws Refusal invalid_policy, naming the member at fault */
export function parseTried(tried: JsonObject): TriedTerms {
  const set = Object.entries(tried).filter(([, value]) => value !== null);
  if (set.length === 0) throw invalid('policy', 'policy names nothing that is to be tried.');
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
