import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../canonical-json.ts';
import { type ClaimType, claimTypes } from '../dispute/reasons.ts';
import { disputeLimits, limits } from '../limits.ts';
import { word } from '../noun.ts';
import { bookPageSize } from './book.ts';
import { freeObject } from './free-object.ts';
import { pageLimit } from './page-limit.ts';
import { PossessionMembers, type WithoutPossession } from './possession.ts';
import { storedText } from './text.ts';

/* Requests of /v1/agents/{agent_id}/book/dispute. */

const { evidence_bytes_max: bytes, evidence_depth_max: depth, evidence_members_max } = disputeLimits;

type MemberKind = 'text' | 'object' | 'any';

/** Type and description of each member of evidence. */
const evidenceMembers = {
  note: ['any', 'Note for people: any JSON. No rule reads it. Default: none.'],
  requested_model: [
    'text',
    'For `wrong_model`: model id that the call requested. Without effect if `request` names one, which is the default.',
  ],
  model: ['text', 'Earlier name of `requested_model`. If both are sent, they must be equal.'],
  request: [
    'object',
    'Request of the call as proof: `{field, args}`, under a session with `delegation_hash`. Default: none.',
  ],
  salt: ['text', 'Salt of the call, from the response header x-svc-request-salt. Required to prove `request`.'],
  task_id: [
    'text',
    'For `double_charge`: task id of the row of the other charge. Without it, the claim is not upheld.',
  ],
  other_salt: ['text', 'For `double_charge`: salt of the call of the other row. Required to prove `request`.'],
} as const satisfies Record<string, readonly [MemberKind, string]>;
type EvidenceMember = keyof typeof evidenceMembers;

/** The members of evidence, by the type of the claim. */
const evidenceOf: Readonly<Record<ClaimType, readonly EvidenceMember[]>> = {
  output_missing: ['note'],
  wrong_model: ['requested_model', 'model', 'request', 'salt', 'note'],
  double_charge: ['task_id', 'request', 'salt', 'other_salt', 'note'],
};

const isKind: Readonly<Record<MemberKind, (value: unknown) => boolean>> = {
  text: value => typeof value === 'string',
  object: isJsonObject,
  any: () => true,
};

/** What is wrong with a member of the evidence. Null if it is valid. */
function faultOf(claim_type: ClaimType, name: string, value: unknown): string | null {
  const member = evidenceOf[claim_type].find(known => known === name);
  if (member === undefined)
    return `is not a member of the evidence for ${claim_type}; these are: ${evidenceOf[claim_type].join(', ')}`;
  const [kind] = evidenceMembers[member];
  return isKind[kind](value) ? null : `is not ${kind === 'object' ? 'an object' : 'a string'}`;
}

function requireKnown(
  { claim_type, evidence = {} }: { readonly claim_type: ClaimType; readonly evidence?: JsonObject | undefined },
  context: z.RefinementCtx,
): void {
  for (const [name, value] of Object.entries(evidence)) {
    const message = faultOf(claim_type, name, value);
    if (message !== null) context.addIssue({ code: 'custom', path: ['evidence', name], message });
  }
  const { requested_model, model } = evidence;
  if (requested_model !== undefined && model !== undefined && requested_model !== model)
    context.addIssue({ code: 'custom', path: ['evidence', 'model'], message: 'contradicts requested_model' });
}

/** Body of POST /v1/agents/{agent_id}/book/dispute. Possession is checked before the body is parsed. */
export const DisputeRequest = PossessionMembers.extend({
  task_id: storedText.min(1).max(limits.row_name_chars_max).describe('Task id of the disputed row.'),
  claim_type: word(claimTypes),
  evidence: freeObject({ bytes, depth, members: evidence_members_max })
    .optional()
    .meta({
      type: 'object',
      properties: Object.fromEntries(
        Object.entries(evidenceMembers).map(([name, [kind, description]]) => [
          name,
          { ...(kind === 'any' ? {} : { type: kind === 'text' ? 'string' : kind }), description },
        ]),
      ),
      additionalProperties: false,
      scalar: 'JSONObject',
    })
    .describe(
      `Evidence for the claim, stored and signed unchanged, up to ${bytes / 1_024} KiB. Members by claim_type: \`wrong_model\` takes \`requested_model\` (formerly \`model\`) and, to prove it, \`request\` ` +
        '{field, args} (with `delegation_hash` for a call under a session) and `salt`; `double_charge` takes `task_id` (the other row), `request`, `salt` and `other_salt`; ' +
        'each takes `note`. Any other member is refused. For a chat, `field` is Mutation.createChatCompletion (streamed: ' +
        'Subscription.chatCompletionStream), and `args` is the request as sent, with `model` svc/auto, `stream` false, and `max_tokens`, ' +
        '`temperature`, `intent_id` and `attempt_index` null if they were left out.',
    ),
})
  .strict()
  .superRefine(requireKnown);
export type DisputeRequest = WithoutPossession<z.output<typeof DisputeRequest>>;

/** A dispute in a path. */
export const DisputePath = z.object({
  dispute_id: z.string().min(1).max(limits.id_chars_max).describe('Id of the dispute.'),
});

/** Page of the disputes of a book. */
export const DisputePage = z.strictObject({
  limit: pageLimit({ of: 'disputes', ...bookPageSize }),
  before: z
    .string()
    .regex(/^dispute_[0-9a-z]{26}$/, { error: 'is not the id of a dispute' })
    .optional()
    .describe(
      'Returns only disputes filed before the one with this dispute_id: pass `next` of the previous response. Default: starts at the newest.',
    ),
});
