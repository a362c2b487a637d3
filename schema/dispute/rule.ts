import { canonicalHash, isJsonObject, type Json, type JsonObject } from '../canonical-json.ts';
import type { Evidence } from '../evidence.ts';
import { AUTO_MODEL, STAMPED_BY } from '../route-words.ts';
import type { DisputeFactName, DisputeSide } from './facts.ts';
import { type ClaimType, type DisputeOutcome, type DisputeReason, disputeOutcome, disputeReasons } from './reasons.ts';

/*
 * How disputes are decided: a pure function of a claim, its evidence and facts that are read by name. Whoever signs a verdict
 * and whoever runs one again call the same; it reads no clock and nothing else. A change of what it decides is a new version.
 */

/** 2: a request may show the session that it was made under (`delegation_hash`), which its receipt's hash binds. */
export const DISPUTE_RULE_VERSION = 2;
const UNDER_SESSIONS_SINCE = 2;

/** Verdicts of every version are run again by the rule that decided them. */
export function isKnownRule(version: unknown): boolean {
  return typeof version === 'number' && version >= 1 && version <= DISPUTE_RULE_VERSION;
}

export interface DisputeClaim {
  readonly claim_type: ClaimType;
  readonly task_id: string;
  /** Bounded, and its caller's: of it nothing counts but what is named below. */
  readonly evidence: JsonObject;
  /** Of the rule that decides, or has decided; the present one where it is left out. */
  readonly rule_version?: number;
}

export type ReadFact = (name: DisputeFactName) => Json;

export interface Adjudication {
  readonly reason: DisputeReason;
  /** Null: open. */
  readonly outcome: DisputeOutcome | null;
  /** The facts that it was decided by, in the order in which they were looked at. */
  readonly used: readonly DisputeFactName[];
}

export function adjudicate(shown: DisputeClaim, read: ReadFact): Adjudication {
  const claim = { ...shown, evidence: asRead(shown) };
  const used: DisputeFactName[] = [];
  const look: ReadFact = name => {
    if (!used.includes(name)) used.push(name);
    return read(name);
  };
  const reason = uncharged(look, 'disputed') ?? rules[claim.claim_type](claim, look);
  return { reason, outcome: disputeOutcome(reason), used };
}

/** To a rule of before there was such a member it says nothing. */
function asRead({ evidence, rule_version = DISPUTE_RULE_VERSION }: DisputeClaim): JsonObject {
  const { request } = evidence;
  if (rule_version >= UNDER_SESSIONS_SINCE || !isJsonObject(request)) return evidence;
  const { delegation_hash: _unread, ...first } = request;
  return { ...evidence, request: first };
}

const rules: Readonly<Record<ClaimType, (claim: DisputeClaim, look: ReadFact) => DisputeReason>> = {
  output_missing: (_, look) => outputReason(look),
  wrong_model: ({ evidence }, look) => modelReason(evidence, look),
  double_charge: doubleReason,
};

const unchargedBy: Readonly<Record<Evidence, DisputeReason | null>> = {
  collected: null,
  RECORDED_BY_SETTLE: 'arrival_pending',
  ARRIVAL_UNVERIFIED: 'arrival_unverified',
  foreign_ingest: 'charged_elsewhere',
  inflow_claimed: 'nothing_charged',
  UNVERIFIED: 'nothing_charged',
  policy_blocked: 'nothing_charged',
  a2a_escrow: 'nothing_charged',
};

/** Why there is no charge to speak of, or none yet; null where there is one, with a receipt. */
function uncharged(look: ReadFact, side: DisputeSide): DisputeReason | null {
  const evidence = look(`${side}.evidence`);
  if (typeof evidence !== 'string' || !Object.hasOwn(unchargedBy, evidence)) return 'evidence_unknown';
  const reason = unchargedBy[evidence as Evidence];
  if (reason !== null) return reason;
  look(`${side}.amount`);
  if (look(`${side}.settlement_vanished`) === true) return 'settlement_in_doubt';
  return look(`${side}.payload_hash`) === null ? 'receipt_missing' : null;
}

/** `omission_rule` of a receipt that commits to no output. */
const withoutOutput: Readonly<Record<string, DisputeReason>> = {
  no_input: 'no_output_sold',
  no_output: 'no_output',
  hub_broke_off: 'output_broke_off',
  process_ended: 'output_not_kept',
};

function outputReason(look: ReadFact): DisputeReason {
  if (look('disputed.output_status') === 'committed') return 'output_committed';
  if (look('disputed.hub') === STAMPED_BY) return 'no_output_sold';
  if (look('disputed.answered_on_resend') === true) return 'answered_on_resend';
  const omission = look('disputed.output_omission');
  const known = typeof omission === 'string' && Object.hasOwn(withoutOutput, omission);
  return (known ? withoutOutput[omission] : null) ?? 'commitment_unknown';
}

/** Evidence: `model`, as it was requested; to prove it, `request` {field, args} and `salt`. */
function modelReason(evidence: JsonObject, look: ReadFact): DisputeReason {
  if (look('disputed.hub') === STAMPED_BY) return 'no_model_sold';
  const shown = requestIn(evidence);
  const proven = shown !== null && isProven(look('disputed.request_hash'), shown, evidence.salt);
  const requested = (shown && modelOf(shown)) ?? textOf(evidence.model);
  if (requested === null) return 'requested_model_not_named';
  if (requested === look('disputed.model')) return 'model_as_requested';
  if (requested === AUTO_MODEL) return 'model_delegated';
  return proven && modelOf(shown) === requested ? 'another_model_answered' : 'request_not_proven';
}

/** Evidence: `task_id` of the other row; to prove that both are one request, that `request`, its `salt` and `other_salt`. */
function doubleReason({ task_id, evidence }: DisputeClaim, look: ReadFact): DisputeReason {
  const other = textOf(evidence.task_id);
  if (other === null) return 'other_charge_not_named';
  if (other === task_id) return 'same_row';
  if (look('other.on_book') !== true) return 'other_not_on_book';
  const without_charge = uncharged(look, 'other');
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

interface ShownRequest {
  readonly field: string;
  readonly args: JsonObject;
  /** Left out of a call that was made under no session. */
  readonly delegation_hash?: string;
}

function requestIn({ request }: JsonObject): ShownRequest | null {
  if (!isJsonObject(request)) return null;
  const { field, args, delegation_hash } = request;
  if (typeof field !== 'string' || !isJsonObject(args)) return null;
  return { field, args, ...(typeof delegation_hash === 'string' ? { delegation_hash } : {}) };
}

/**
 * As the receipt policy has it: SHA-256 of the canonical {request_hash, salt}, where request_hash is that of {field, args},
 * and under a session of {field, args, delegation_hash}.
 */
function isProven(request_hash: Json, shown: ShownRequest, salt: Json | undefined): boolean {
  if (typeof salt !== 'string') return false;
  return canonicalHash({ request_hash: canonicalHash({ ...shown }), salt }) === request_hash;
}

const textOf = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null);
/** Tasks name their model otherwise than all other work. */
const modelOf = ({ args }: ShownRequest): string | null => textOf(args.model) ?? textOf(args.model_id);
