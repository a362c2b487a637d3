import type { Json, JsonObject } from '../canonical-json.ts';
import type { Evidence } from '../evidence.ts';
import { disputeLimits } from '../limits.ts';
import { AUTO_MODEL, STAMPED_BY } from '../route-words.ts';
import type { DisputeClaim, ReadFact, RuleFinding } from './claim.ts';
import type { DisputeSide } from './facts.ts';
import { unchargedBy, withoutOutput } from './first-rule.ts';
import { type ClaimType, type DisputeReason, disputeOutcome } from './reasons.ts';
import { isProven, modelOf, requestIn, shownText } from './shown-request.ts';

/*
 * Rule 3. It decides by what the issuer observed, so a commitment made by others proves no output. A charge is refunded once, and
 * never while its payment may still bring the response.
 */

export function judgeByThird(claim: DisputeClaim, look: ReadFact): RuleFinding {
  return judgeByRules(rulesOfThird, claim, look);
}

export type ClaimRules = Readonly<Record<ClaimType, (claim: DisputeClaim, look: ReadFact) => RuleFinding>>;

/** The same checks come first for every claim: whether something was charged and not refunded before. */
export function judgeByRules(rules: ClaimRules, claim: DisputeClaim, look: ReadFact): RuleFinding {
  const uncharged = unchargedReason(look, 'disputed');
  if (uncharged !== null) return { reason: uncharged };
  if (look('disputed.refunded_by') !== null) return { reason: 'already_refunded' };
  const found = rules[claim.claim_type](claim, look);
  if (disputeOutcome(found.reason) !== 'refund') return found;
  const { owed_back = chargeOf(claim, look) } = found;
  return openFinding('answer_still_owed', look('disputed.resend_until'), claim) ?? { ...found, owed_back };
}

export const rulesOfThird: ClaimRules = {
  output_missing: outputFinding,
  wrong_model: ({ evidence }, look) => ({ reason: modelReason(evidence, look) }),
  double_charge: doubleFinding,
};

function chargeOf({ task_id }: DisputeClaim, look: ReadFact): NonNullable<RuleFinding['owed_back']> {
  return { task_id, amount: look('disputed.amount') };
}

/** Open until that time. Null without one, or once it has passed. */
function openFinding(reason: DisputeReason, until: Json, { judged_at }: DisputeClaim): RuleFinding | null {
  if (until === null) return null;
  return Date.parse(judged_at ?? '') >= Date.parse(shownText(until) ?? '') ? null : { reason, decides_after: until };
}

/** Why there is no charge, or none yet. Null if there is one with a receipt. */
function unchargedReason(look: ReadFact, side: DisputeSide): DisputeReason | null {
  const evidence = look(`${side}.evidence`);
  if (typeof evidence !== 'string' || !Object.hasOwn(unchargedBy, evidence)) return 'evidence_unknown';
  const reason = unchargedBy[evidence as Evidence];
  if (reason !== null) return reason;
  if (look(`${side}.collected`) === false) return 'arrival_unverified';
  // The payment of a job is on the winner's book without an amount: the poster was charged.
  if (look(`${side}.amount`) === null) return 'nothing_charged';
  if (look(`${side}.settlement_vanished`) === true) return 'settlement_in_doubt';
  return look(`${side}.payload_hash`) === null ? 'receipt_missing' : null;
}

function outputFinding(claim: DisputeClaim, look: ReadFact): RuleFinding {
  if (look('disputed.hub') === STAMPED_BY) return stampedFinding(claim, look);
  if (look('disputed.output_status') === 'committed')
    return { reason: look('disputed.output_by') === 'service' ? 'output_committed' : 'commitment_by_others' };
  if (look('disputed.answered_on_resend') === true) return { reason: 'answered_on_resend' };
  const omission = look('disputed.output_omission');
  const known = typeof omission === 'string' && Object.hasOwn(withoutOutput, omission);
  return { reason: (known ? withoutOutput[omission] : null) ?? 'commitment_unknown' };
}

/** A stamp has no output. The output of a job shows only in its reveal; without one, its fee is owed back. */
function stampedFinding(claim: DisputeClaim, look: ReadFact): RuleFinding {
  if (look('disputed.job_id') === null)
    return { reason: look('disputed.output_status') === 'committed' ? 'commitment_by_others' : 'no_output_sold' };
  if (look('disputed.job_revealed_at') !== null) return { reason: 'output_revealed' };
  if (look('disputed.job_challenged_at') === null) return { reason: 'output_not_revealed' };
  const paid_ms = Date.parse(shownText(look('disputed.job_paid_at')) ?? '');
  const until_ms = paid_ms + disputeLimits.reveal_awaited_seconds * 1_000;
  const until = Number.isNaN(until_ms) ? '' : new Date(until_ms).toISOString();
  return (
    openFinding('reveal_awaited', until, claim) ?? {
      reason: 'output_never_revealed',
      owed_back: { task_id: look('disputed.job_fee_task_id'), amount: look('disputed.job_fee') },
      owed_by_winner: { agent_id: look('disputed.job_winner'), amount: look('disputed.job_price') },
    }
  );
}

/** Evidence: `requested_model` (formerly `model`). To prove it: `request` {field, args} and `salt`. */
function modelReason(evidence: JsonObject, look: ReadFact): DisputeReason {
  if (look('disputed.hub') === STAMPED_BY) return 'no_model_sold';
  const shown = requestIn(evidence);
  const in_request = shown && modelOf(shown);
  const requested = in_request ?? shownText(evidence.requested_model) ?? shownText(evidence.model);
  const answered_by = look('disputed.model');
  // A receipt signed before the work was done names no model. A resend does not change what it says.
  if (answered_by === null || answered_by === '') return 'no_model_on_receipt';
  if (requested === null) return 'requested_model_not_named';
  if (requested === answered_by) return 'model_as_requested';
  if (requested === AUTO_MODEL) return 'model_delegated';
  const proven = in_request !== null && isProven(look('disputed.request_hash'), shown, evidence.salt);
  return proven ? 'another_model_answered' : 'request_not_proven';
}

/** Evidence: `task_id` of the other row. To prove that both are one request: `request`, `salt` and `other_salt`. */
function doubleFinding({ task_id, evidence }: DisputeClaim, look: ReadFact): RuleFinding {
  const other = shownText(evidence.task_id);
  const intent = look('disputed.intent_id');
  if (other === null) {
    const alone = intent === null || look('disputed.intent_shared') === false;
    return { reason: alone ? 'no_common_intent' : 'other_charge_not_named' };
  }
  if (other === task_id) return { reason: 'same_row' };
  if (look('other.on_book') !== true) return { reason: 'other_not_on_book' };
  const without_charge = unchargedReason(look, 'other');
  if (without_charge !== null)
    return { reason: disputeOutcome(without_charge) === null ? without_charge : 'other_not_charged' };
  if (intent === null || intent !== look('other.intent_id')) return { reason: 'no_common_intent' };
  if (look('disputed.attempt_index') !== look('other.attempt_index')) return { reason: 'attempts_differ' };
  const [place, other_place] = [look('disputed.leaf_index'), look('other.leaf_index')];
  if (typeof place !== 'number' || typeof other_place !== 'number') return { reason: 'receipt_missing' };
  if (place < other_place) return { reason: 'first_charge' };
  if (look('other.refunded_by') !== null) return { reason: 'other_refunded' };
  if (broughtOfItsOwn(look)) return { reason: 'output_of_its_own' };
  const shown = requestIn(evidence);
  const proven =
    isProven(look('disputed.request_hash'), shown, evidence.salt) &&
    isProven(look('other.request_hash'), shown, evidence.other_salt);
  return proven ? { reason: 'charged_twice', standing_task_id: other } : { reason: 'request_not_proven' };
}

/** Whether the later charge brought another output than the earlier one. */
function broughtOfItsOwn(look: ReadFact): boolean {
  if (look('disputed.output_status') !== 'committed') return look('disputed.answered_on_resend') === true;
  const output = look('disputed.output_hash');
  return output === null || look('other.output_status') !== 'committed' || look('other.output_hash') !== output;
}
