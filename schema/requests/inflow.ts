import { z } from 'zod';
import { parseAtomic } from '../amount.ts';
import { inflowLimits, limits } from '../limits.ts';
import { freeObject } from './free-object.ts';
import { PossessionMembers, type WithoutPossession } from './possession.ts';
import { storedText, visibleText } from './text.ts';

/* Requests of /v1/agents/{agent_id}/book/inflow and …/inflow/correct. */

/** The default bucket. */
export const USUAL_BUCKET = 'patron';

const Bucket = visibleText.min(1).max(inflowLimits.bucket_chars_max);

const NONE = { error: 'must be more than 0' };

const Allocation = z
  .string({ error: 'must be a string of digits (atomic USDC)' })
  .refine(text => parseAtomic(text) !== null, { error: 'must be a string of digits (atomic USDC)' })
  .describe('Amount in atomic USDC. It is set aside, not spent: no total, cap or budget counts it.')
  .meta({ scalar: 'AtomicAmount' });

/** The amount of an inflow. Only a correction may set it to 0. */
const SetAside = Allocation.refine(text => text !== '0', NONE).describe(
  'Amount in atomic USDC, from 1. It is set aside, not spent: no total, cap or budget counts it.',
);

/** An id that is also used in paths and in other books. */
const TaskName = z
  .string()
  .regex(/^[\w.:-]+$/, { error: 'may contain only letters, digits and . _ : -' })
  .max(inflowLimits.task_chars_max);

/** A newly chosen id. In a path, `.` and `..` name the current and the parent folder (RFC 3986 3.3). */
const ChosenTask = TaskName.refine(name => name !== '.' && name !== '..', {
  error: 'cannot be `.` or `..`, because it is part of a path',
});

const Reason = visibleText.min(1).max(inflowLimits.reason_chars_max);

/** Branches that a correction merges. */
const Merges = z.array(TaskName).min(1).max(inflowLimits.merges_max);

/** Signed, because the same agent_id may exist at another service. */
const Service = z.string().max(inflowLimits.service_chars_max).describe('Base URL of this service.');
const agent_id = z.int().describe('Id of the agent of the book.');
const SignedAt = z.iso
  .datetime({ offset: true, error: 'must be an RFC 3339 date-time' })
  .describe('Time of the signature (RFC 3339).');
/** Signatures of contract wallets may be long. */
const Signature = z
  .string()
  .max(limits.wallet_signature_chars_max)
  .regex(/^0x(?:[0-9a-fA-F]{2})+$/, { error: 'must be 0x and an even number of hex digits' })
  .describe('Signature of the wallet of the agent, 0x and hex digits.');

/** An inflow that the agent's wallet has signed in advance. The request must have the same values. */
const SignedInflow = z.strictObject({
  iss: Service,
  agent_id,
  bucket: Bucket.describe('What the money is for. If the request has a `bucket`, it must be the same.'),
  allocation: SetAside,
  task_id: ChosenTask.optional().describe(
    'Task id of the inflow. Default: an id that the service derives from the claim.',
  ),
  signed_at: SignedAt,
  signature: Signature,
});

/** A correction in the same form; `task_id` is the row that it corrects. */
const SignedCorrection = z.strictObject({
  iss: Service,
  agent_id: z.int(),
  task_id: TaskName,
  reason: Reason,
  bucket: Bucket.optional(),
  allocation: Allocation.optional(),
  merges: Merges.optional(),
  signed_at: SignedAt,
  signature: Signature,
});

/** Body of POST /v1/agents/{agent_id}/book/inflow. Possession is checked before the body is parsed. */
export const InflowRequest = PossessionMembers.extend({
  bucket: Bucket.optional().describe(
    `What the money is for, in up to ${inflowLimits.bucket_chars_max} characters. Default: \`${USUAL_BUCKET}\`.`,
  ),
  allocation: SetAside,
  task_id: ChosenTask.optional().describe(
    `Id that the caller chooses and can use only once: up to ${inflowLimits.task_chars_max} letters, digits and . _ : -. Default: a new id or, with \`inflow_claim\`, the id that the claim names or that is derived from it.`,
  ),
  model: storedText
    .min(1)
    .max(limits.model_id_chars_max)
    .optional()
    .describe(`Model that the money is meant for, in up to ${limits.model_id_chars_max} characters. Default: none.`),
  hub: storedText
    .min(1)
    .max(inflowLimits.hub_chars_max)
    .optional()
    .describe(`Hub that the money is meant for, in up to ${inflowLimits.hub_chars_max} characters. Default: none.`),
  inflow_claim: SignedInflow.optional()
    .meta({ scalar: 'JSONObject' })
    .describe(
      'Claim that the wallet of the agent has signed: {iss, agent_id, bucket, allocation, task_id?, signed_at, signature}. The signature ' +
        '(personal_sign, EIP-191; ERC-1271 of a contract) is over `svc.inflow_claim|` and the canonical JSON (RFC 8785) of the other members; ' +
        '`iss` is the base URL of this service, `signed_at` is RFC 3339. A claim is accepted once. Default: none.',
    ),
}).strict();
export type InflowRequest = WithoutPossession<z.output<typeof InflowRequest>>;

/** Body of POST /v1/agents/{agent_id}/book/inflow/correct. Possession is checked before the body is parsed. */
export const CorrectionRequest = PossessionMembers.extend({
  task_id: TaskName.describe('Task id of the inflow, or of the earlier correction, that is corrected.'),
  reason: Reason.describe(`Reason for the correction, in up to ${inflowLimits.reason_chars_max} characters.`),
  bucket: Bucket.optional().describe(
    `What the money is for instead, in up to ${inflowLimits.bucket_chars_max} characters. Default: unchanged.`,
  ),
  allocation: Allocation.optional().describe(
    'Corrected amount, in atomic USDC. `0` withdraws the inflow. Default: unchanged.',
  ),
  merges: Merges.optional().describe(
    `task_ids of the corrections, 1 to ${inflowLimits.merges_max}, that this correction merges as branches of a fork. At least two branches are required; ` +
      '`task_id` is one too, unless all the others correct it. Either all branches correct the same row and none is itself a merge, or none of them has been corrected or merged. The ' +
      'status stays `forked`, and the merged rows show `merged_by`. Default: none.',
  ),
  correction: freeObject({
    bytes: inflowLimits.correction_bytes_max,
    depth: inflowLimits.correction_depth_max,
    members: inflowLimits.correction_members_max,
  })
    .optional()
    .meta({ type: 'object', additionalProperties: true, scalar: 'JSONObject' })
    .describe(
      `Any JSON object of up to ${inflowLimits.correction_bytes_max / 1_024} KiB. With a \`signature\`, the object is a correction that the wallet of the agent has signed beforehand: {iss, agent_id, ` +
        'task_id, reason, bucket?, allocation?, merges?, signed_at, signature}. The signature is over `svc.inflow_correction|` and the canonical JSON (RFC 8785) of the other members. ' +
        '`merges` of a signed correction names every branch, in the order of seq. Default: none.',
    ),
}).strict();
export type CorrectionRequest = WithoutPossession<z.output<typeof CorrectionRequest>>;

/** Body of a signed correction, if `correction` states that it is one. */
export const SignedCorrectionRequest = z.object({ correction: SignedCorrection });
