import { z } from 'zod';
import type { Json } from '../canonical-json.ts';
import { Refusal } from '../errors.ts';
import { wordText } from '../noun.ts';
import { policyTypeWords } from '../policy.ts';
import { type PolicyType, type PolicyValue, policyKinds, policyModes } from '../policy-kinds.ts';
import { policyTypes } from '../policy-types.ts';
import { describedWords, wordList } from '../words.ts';
import { bookPageSize, Moment } from './book.ts';
import { pageLimit } from './page-limit.ts';
import { PossessionMembers } from './possession.ts';

export const policyNames = Object.keys(policyKinds) as PolicyType[];

/** One change of a policy. A null value removes the rule. */
export interface PolicyChange {
  readonly policy_type: PolicyType;
  readonly value: PolicyValue<PolicyType> | null;
}

/**
 * Body of POST /v1/agents/{agent_id}/book/policy. Possession is checked before the body is parsed. An unknown member is refused, because
 * with a misspelled `mode` a policy that was only to be tried would be in force.
 */
export const PolicyRequest = PossessionMembers.extend({
  policy_type: wordText(policyTypeWords).describe(`One of ${policyNames.join(', ')}.`),
  value: z
    .unknown()
    .optional()
    .describe(
      'Value of the policy, such as digits for a cap in atomic USDC or a boolean for a switch. Null clears the policy. Required: a request without this member is refused.',
    )
    .meta({ scalar: 'JSON' }),
  mode: z
    .enum(wordList(policyModes), { error: 'must be enforce or shadow' })
    .default('enforce')
    .describe(`${describedWords(policyModes)} Default: \`enforce\`.`)
    .meta({ words: policyModes }),
}).strict();

/** The time as of which a policy is read. */
export const PolicyMoment = z.strictObject({
  at: Moment.optional().describe(
    'Shows the policies as of this time: RFC 3339 or, by REST and MCP, a day such as `2026-11-30` (its start, UTC). Default: now.',
  ),
});

/** Number of changes on a page. */
export const CHANGES_PAGE = { of: 'changes', ...bookPageSize } as const;

/** Page of the changes of a book's policies and budget. */
export const PolicyChangesPage = z.strictObject({
  limit: pageLimit(CHANGES_PAGE),
  before: z
    .int()
    .optional()
    .describe('Returns only changes before this position among the events of the book. Default: starts at the newest.'),
});

/** @throws Refusal invalid_policy for an unknown type, and for a value that the type does not allow */
export function parsePolicy(policy_type: string, value: Json | undefined): PolicyChange {
  if (!isPolicyType(policy_type))
    throw invalid('policy_type', `There is no policy of type ${JSON.stringify(policy_type.slice(0, 64))}.`);
  // An absent value is not null: removing a cap has to be explicit.
  if (value === undefined) throw invalid('value', 'value is required; null clears.');
  if (value === null) return { policy_type, value };
  const { value: shape, wants } = policyTypes[policyKinds[policy_type].type];
  const parsed = shape.safeParse(value);
  if (parsed.success) return { policy_type, value: parsed.data };
  const own = parsed.error.issues.find(({ code, path }) => code === 'custom' && path.length === 0);
  throw invalid('value', `${policy_type} ${own?.message ?? wants}.`);
}

function isPolicyType(name: string): name is PolicyType {
  return Object.hasOwn(policyKinds, name);
}

function invalid(param: 'policy_type' | 'value', detail: string): Refusal {
  return new Refusal('invalid_policy', { param, detail });
}
