import { isJsonObject, type JsonObject } from '../canonical-json.ts';
import type { Evidence } from '../evidence.ts';
import { AUTO_MODEL, STAMPED_BY } from '../route-words.ts';
import type { DisputeClaim, ReadFact, RuleFinding } from './claim.ts';
import type { DisputeSide } from './facts.ts';
import { type ClaimType, disputeReasons, type FirstReason } from './reasons.ts';
import { isProven, modelOf, requestIn, shownText } from './shown-request.ts';

/* Rules 1 and 2. Verdicts are run again by the rule that decided them, so nothing here may change. */

/** Since rule 2 a request may include the session that it was made under. */
const UNDER_SESSIONS_SINCE = 2;

export function judgeByFirst(claim: DisputeClaim, look: ReadFact): RuleFinding {
  const shown = { ...claim, evidence: asRead(claim) };
  return { reason: reasonUncharged(look, 'disputed') ?? rules[claim.claim_type](shown, look) };
}

/** Removes the member for the rule that did not know it. */
function asRead({ evidence, rule_version }: DisputeClaim): JsonObject {
  const { request } = evidence;
  if (rule_version >= UNDER_SESSIONS_SINCE || !isJsonObject(request)) return evidence;
  const { delegation_hash: _unread, ...first } = request;
  return { ...evidence, request: first };
}

const rules: Readonly<Record<ClaimType, (claim: DisputeClaim, look: ReadFact) => FirstReason>> = {
  output_missing: (_, look) => outputReason(look),
  wrong_model: ({ evidence }, look) => modelReason(evidence, look),
  double_charge: doubleReason,
};

/** Why nothing was charged, by the evidence of a row. Null if something was. */
export const unchargedBy: Readonly<Record<Evidence, FirstReason | null>> = {
  collected: null,
  RECORDED_BY_SETTLE: 'arrival_pending',
  ARRIVAL_UNVERIFIED: 'arrival_unverified',
  foreign_ingest: 'charged_elsewhere',
  inflow_claimed: 'nothing_charged',
  UNVERIFIED: 'nothing_charged',
  policy_blocked: 'nothing_charged',
  a2a_escrow: 'nothing_charged',
};

/** Why there is no charge, or none yet. Null if there is one with a receipt. */
function reasonUncharged(look: ReadFact, side: DisputeSide): FirstReason | null {
  const evidence = look(`${side}.evidence`);
  if (typeof evidence !== 'string' || !Object.hasOwn(unchargedBy, evidence)) return 'evidence_unknown';
  const reason = unchargedBy[evidence as Evidence];
  if (reason !== null) return reason;
  look(`${side}.amount`);
  if (look(`${side}.settlement_vanished`) === true) return 'settlement_in_doubt';
  return look(`${side}.payload_hash`) === null ? 'receipt_missing' : null;
}

/** `omission_rule` of a receipt that commits to no output. */
export const withoutOutput: Readonly<Record<string, FirstReason>> = {
  no_input: 'no_output_sold',
  no_output: 'no_output',
  hub_broke_off: 'output_broke_off',
  process_ended: 'output_not_kept',
};

function outputReason(look: ReadFact): FirstReason {
  if (look('disputed.output_status') === 'committed') return 'output_committed';
  if (look('disputed.hub') === STAMPED_BY) return 'no_output_sold';
  if (look('disputed.answered_on_resend') === true) return 'answered_on_resend';
  const omission = look('disputed.output_omission');
  const known = typeof omission === 'string' && Object.hasOwn(withoutOutput, omission);
  return (known ? withoutOutput[omission] : null) ?? 'commitment_unknown';
}

/** Evidence: `model`, as it was requested; to prove it, `request` {field, args} and `salt`. */
function modelReason(evidence: JsonObject, look: ReadFact): FirstReason {
  if (look('disputed.hub') === STAMPED_BY) return 'no_model_sold';
  const shown = requestIn(evidence);
  const proven = shown !== null && isProven(look('disputed.request_hash'), shown, evidence.salt);
  const requested = (shown && modelOf(shown)) ?? shownText(evidence.model);
  if (requested === null) return 'requested_model_not_named';
  if (requested === look('disputed.model')) return 'model_as_requested';
  if (requested === AUTO_MODEL) return 'model_delegated';
  return proven && shown && modelOf(shown) === requested ? 'another_model_answered' : 'request_not_proven';
}

/** Evidence: `task_id` of the other row; to prove that both are one request, that `request`, its `salt` and `other_salt`. */
function doubleReason({ task_id, evidence }: DisputeClaim, look: ReadFact): FirstReason {
  const other = shownText(evidence.task_id);
  if (other === null) return 'other_charge_not_named';
  if (other === task_id) return 'same_row';
  if (look('other.on_book') !== true) return 'other_not_on_book';
  const without_charge = reasonUncharged(look, 'other');
  if (without_charge !== null) return disputeReasons[without_charge][0] === null ? without_charge : 'other_not_charged';
  const intent = look('disputed.intent_id');
  if (intent === null || intent !== look('other.intent_id')) return 'no_common_intent';
  if (look('disputed.attempt_index') !== look('other.attempt_index')) return 'attempts_differ';
  const [place, other_place] = [look('disputed.leaf_index'), look('other.leaf_index')];
  if (typeof place !== 'number' || typeof other_place !== 'number') return 'receipt_missing';
  if (place < other_place) return 'first_charge';
  const shown = requestIn(evidence);
  const proven =
    shown !== null &&
    isProven(look('disputed.request_hash'), shown, evidence.salt) &&
    isProven(look('other.request_hash'), shown, evidence.other_salt);
  return proven ? 'charged_twice' : 'request_not_proven';
}
